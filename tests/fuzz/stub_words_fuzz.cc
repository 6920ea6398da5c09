// Fuzzes texts of stubs: reports in a log, greetings over a connection, and facts: a parsed text must
// round-trip.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stub/program/greeting.h"
#include "stub/records/stub_facts.h"
#include "stub/records/stub_report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto account = muster::ParseStubReport(text)) {
    const std::string line = muster::StubReportLine(*account);
    if (line.find('\n') != std::string::npos || !muster::ParseStubReport(line)) std::abort();
  }
  if (const auto facts = muster::ReadStubFacts(text)) {
    if (muster::ReadStubFacts(muster::StubFactsText(*facts)) != facts) std::abort();
    for (std::uint32_t i = 0; i < facts->processes.size(); ++i) {
      if (muster::GreetedBy(*facts, i).size() >= facts->processes.size()) std::abort();
    }
  }
  muster::ReceivedGreeting said;
  if (muster::ReadGreeting(text, "r", said)) {
    std::string again = muster::GreetingLine("r", said.process, said.wall_ns);
    again.pop_back();
    if (!muster::ReadGreeting(again, "r", said)) std::abort();
  }
  return 0;
}
