#include "reference/own_topics.h"

#include <utility>

#include "base/system/fault.h"
#include "base/system/mechanism.h"

namespace muster {
namespace {

Page FaultsPage() {
  Page page;
  page.title = "Fault hooks";
  page.blocks.emplace_back(Example{"", {"muster run --fault=SITE:ACTION:N …"}});
  page.blocks.emplace_back(Paragraph{
      "Makes a run go wrong on purpose, in any build; for tests of what becomes of it then. `delay` waits N "
      "milliseconds "
      "each time the site is passed; `fail` lets the site fail when it is passed for the Nth time; `kill` ends the "
      "program there with SIGKILL. The option may be given more than once."});
  Table table{{"site", "is passed when", "on `fail`"}, {}};
  Value::List sites;
  for (const FaultSite& site : kFaultSites) {
    table.rows.push_back({Ticked(site.name), std::string(site.when), std::string(site.fails)});
    sites.push_back(Value(Value::Map{
        {"name", std::string(site.name)}, {"when", std::string(site.when)}, {"fails", std::string(site.fails)}}));
  }
  page.blocks.emplace_back(std::move(table));
  page.data = Value(Value::Map{{"name", "faults"}, {"kind", "of muster itself"}, {"sites", std::move(sites)}});
  return page;
}

Page MechanismsPage() {
  Page page;
  page.title = "Mechanisms of the kernel";
  page.blocks.emplace_back(Example{"", {"muster run --without=NAME,… …", "MUSTER_WITHOUT=NAME,… muster …"}});
  page.blocks.emplace_back(
      Paragraph{"muster detects which mechanisms the kernel has, and uses substitutes for the others. These options "
                "disable more of them: where a mechanism exists and does not work, and to test the substitutes. The "
                "journal (`agent_connected`, `run_began`) and the receipt name the mechanisms in use."});
  Table table{{"name", "purpose", "substitute"}, {}};
  Value::List mechanisms;
  for (const MechanismFact& fact : kMechanismFacts) {
    table.rows.push_back({Ticked(fact.name), std::string(fact.what), std::string(fact.instead)});
    mechanisms.push_back(Value(Value::Map{
        {"name", std::string(fact.name)}, {"what", std::string(fact.what)}, {"instead", std::string(fact.instead)}}));
  }
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(
      Paragraph{"Required of every kernel: subreapers, `/proc`, signalfd, memfd_create (Linux 3.17)."});
  page.blocks.emplace_back(Paragraph{
      "One is used only on request: `muster run --isolate=pid` runs the processes in a PID namespace, which the "
      "kernel ends as a whole (`pid-namespace` in the journal and the receipt). It needs CAP_SYS_ADMIN or user "
      "namespaces; if it cannot be created, nothing is started."});
  page.data = Value::Map{{"name", "mechanisms"}, {"kind", "of muster itself"}, {"mechanisms", std::move(mechanisms)}};
  return page;
}

}  // namespace

Topics OwnTopics() {
  return {{"faults", "of muster itself", "making a run go wrong on purpose", {}, true, FaultsPage},
          {"mechanisms",
           "of muster itself",
           "the kernel mechanisms in use, and their substitutes",
           {},
           true,
           MechanismsPage}};
}

}  // namespace muster
