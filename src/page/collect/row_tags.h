// The tags of a run as columns of a page: all of them as one text, and one column for each name.
#pragma once

#include <cstddef>
#include <string>

#include "page/collect/page_content.h"

namespace muster {

inline constexpr std::size_t kMostTagColumns = 64;

// Sets those of the last row. Names beyond the most columns are only in the text.
void PutTags(const std::string& run_dir, PageContent& page);

}  // namespace muster
