// Tests that code is sent as offered: from below its folder, and not through links.
#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "run/start/host_files.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

class ShippedTree : public ::testing::Test {
 protected:
  ShippedTree() {
    fs::create_directories(temp_ / "code/d");
    fs::create_directories(temp_ / "secret");
    std::ofstream(temp_ / "code/d/key") << "public";
    std::ofstream(temp_ / "secret/key") << "secret";
  }
  // Offers the only file, calls `meanwhile`, and returns what was sent, or why nothing was sent.
  std::string Sent(const std::function<void()>& meanwhile) {
    auto tree = ReadCodeTree(fs::canonical(std::string(temp_ / "code")), {"PATH=" + temp_.path()}, {}, {});
    if (!tree) return "no tree";
    meanwhile();
    std::string sent;
    CodeShipment shipment(std::make_shared<const CodeTree>(*std::move(tree)), [&](const AgentCommand& command) {
      if (const auto* bytes = std::get_if<CodeBytes>(&command)) sent += bytes->content;
    });
    const std::string why = shipment.Wanted({{0}});
    return why.empty() ? sent : "refused: " + why;
  }

  TempDir temp_;
};

TEST_F(ShippedTree, IsSentUnchanged) {
  EXPECT_EQ(Sent([] {}), "public");
}

TEST_F(ShippedTree, IsNotSentThroughALinkCreatedLater) {
  const std::string sent = Sent([this] {
    fs::remove_all(temp_ / "code/d");
    fs::create_directory_symlink("../secret", temp_ / "code/d");
  });
  EXPECT_TRUE(sent.starts_with("refused: ")) << sent;
  EXPECT_NE(sent.find("code/d/key"), std::string::npos) << sent;
}

}  // namespace
}  // namespace muster::testing
