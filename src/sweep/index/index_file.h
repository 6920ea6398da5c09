// Validates the file of a sweep's index before it is used: its type and size, its tables, its pages, and which part of
// which journal it claims to hold. Part of the index and of the views.
//
// A sweep directory may come from elsewhere. Rows are read only from an index that is exactly what muster creates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/result.h"
#include "sweep/index/database.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

inline constexpr char kIndexName[] = "/index.sqlite";

// The position up to which the rows and the stored progress of an index go.
struct Indexed {
  JournalPosition rows;
  JournalPosition account;
};

// For an index that was opened as `name` ("main", or an attached one). Fails with kind "database" if it is damaged or
// was not created by muster. Returns nothing if it does not match the sweep's journal, or another process has locked
// it. Before rows are read, CheckRows has to pass; it reads the whole index once.
Result<std::optional<Indexed>> WhatIsIndexed(Database& database, const std::string& name, const std::string& sweep_dir);
Result<void> CheckRows(Database& database, const std::string& name);
Result<SweepProgress> StoredSweepProgress(Database& database, const std::string& name);

// The size of the index in the sweep's folder; 0 if there is none yet. Fails with kind "database" if the file cannot be
// an index.
Result<std::uint64_t> IndexBytes(int folder);

// Whether the rollback journal of a killed writer names a super-journal: SQLite would delete that file, wherever it is.
bool NamesAnotherFile(int folder);

// Removes the index and the files that SQLite creates beside it.
void RemoveIndex(int folder);

// Creates the tables of an index, all or none; false if that fails.
bool MakeIndexTables(Database& database);

// Within a transaction: stores the position of the index, and the progress at that position. Returns false if it cannot
// be written.
bool WriteHeld(Database& database, int folder, JournalPosition position, const std::string& boot);
bool WriteSweepProgress(Database& database, JournalPosition position, const SweepProgress& account);

}  // namespace muster
