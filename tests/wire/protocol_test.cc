#include "wire/protocol/protocol.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string Payload(const std::string& frame) { return frame.substr(4); }

std::vector<AgentCommand> EveryCommand() {
  StartProcess start;
  start.process = 4'294'967'295U;
  start.attempt = 2;
  start.argv = {"train", "", "größe", std::string("\0\n", 2)};
  start.search_dirs = {"/opt/bin"};
  start.cwd = "/base";
  start.environment = 3;
  start.env = {"A=", "B=b\nb"};
  start.log_path = "/run/logs/worker.0.2.log";
  start.log_limit = 1ULL << 40;
  start.release_ports = {"rpc"};
  start.ready = {ReadyWhen::Kind::kCommand, 65535, "up", {"curl", ""}, 500};
  start.cores = {0, 65535};
  start.passed = {{100, std::string("s\0cret", 6)}};
  start.pty = PtySize{24, 65535};
  return {
      Hello{1, "20261120", 5, "/run/logs", 10'000, "/run", true},
      DefineEnvironment{3, {"A=1", "B="}},
      HoldPorts{{{"rpc", 0}, {"http", 65535}}},
      start,
      StopProcesses{{{1, 0}, {2, 1}}, 15, 10'000},
      Finish{},
      RequestOutput{},
      TakeDump{1, 10'000, {{3, 1, "/run/dumps/1/worker.3.1.txt"}}},
      PtyBytes{3, 1, std::string("\x03\0", 2)},
      PtyTaken{3, 1, 65'536},
      PtyResized{3, 1, {65535, 0}},
      AllocateResources{{0, 2},
                        8,
                        true,
                        {4, 6},
                        true,
                        "cuda",
                        "run a1",
                        {{1, CoreRequest::Kind::kList, 2, {0, 3}, "worker", {2}}},
                        kWaitForEver,
                        2,
                        "sweep:a",
                        "b"},
      Activate{{{ActivationStep::Kind::kConda, "größe"}}, {"A=", "B=b\nb"}, "/base", "/run/logs/activation.x.log", 7},
      HeadHeartbeat{7},
      PlaceFile{"files/a", 1ULL << 40, "x"},
      Inspect{{{"/tmp", "/tmp"}}, {{"sh", "/bin"}}, {"python3"}, {"torch"}, {"CUDA_*"}, {"A="}, {"/opt"}, "/", true, 7},
      OpenPaths{{29'500, 65535}},
      ProbePaths{{{"fe80::1", 65535}, {"10.0.0.1", 1}}, 3'000},
      ClosePaths{},
      OfferCode{"ab", {{"a.py", false, "", 0755, 1ULL << 40, "cd"}, {"b", true, "../\xff", 0, 0, ""}}, true},
      CodeBytes{4'294'967'295U, std::string("x\0", 2)},
      FilesStored{true},
      OpenAgent{4'294'967'295U},
      ToAgent{7, std::string("\0x", 2)},
      CloseAgent{7},
      SignalProcess{{3, 1}, 19},
      KillAgent{},
      FillDisk{"/mnt/größe", 1ULL << 40}};
}

std::vector<AgentMessage> EveryMessage() {
  HostFacts facts;
  facts.kernel = "6.1";
  facts.root = true;
  facts.memory_bytes = ~0ULL;
  facts.drivers = {{"cuda", "535"}};
  facts.limits = {{"core", 0, LimitFact::kUnlimited}};
  facts.variables = {{"PATH", "\xff"}};
  facts.disks = {{"/tmp", "/", "ext4", 1ULL << 40, 1, 2, 3, "why"}};
  facts.programs = {{"sh", "/bin/sh", ""}};
  facts.pythons = {{"python3", "3.11.2", {{"torch", "2.1"}}, ""}};
  return {AgentReady{
              1, 77, 1ULL << 63, "host", {"pidfd"}, "/sys/fs/cgroup/x", 12, 1ULL << 40, ~0ULL, "10.0.0.1", false, 128},
          PortsHeld{{{"rpc", 6667}}, ""},
          AgentFailed{"why"},
          ProcessStarted{1, 2, -3, 4, 5},
          SpawnFailed{1, 2, "exec", 2, "\"x\"", 9},
          ProcessExited{1, 2, true, 9, true, 3, 4, 5, 6},
          SignalSent{1, 2, 15, 3, 4},
          AgentEmpty{1, 2, 3, 4, {"pidfd", "children"}, 12, 1ULL << 40},
          ProcessReady{1, 2, 3},
          OutputSeen{1, {2, 3}, {0, 1ULL << 40}},
          FirstOutput{1, 2, 3},
          EndEvidence{1, 2, "core", "in /tmp/core", 4},
          PortTaken{1, 2, "rpc", 65535, "process 7 (nc -l)", true, 4},
          ProcessDumped{
              1,
              2,
              0,
              77,
              5'000,
              9,
              {{8, 7, "sh", 1, 1, "gdb", {{8, 1, "sh", "sleeping", "do_wait", "wait4", "pipe", {{"main", "a.c", 3}}}}}},
              10},
          HostDumped{1, 1, {{"no_tools", ""}}},
          PtyOpened{1, 2, 3},
          PtyClosed{1, 2, 1ULL << 40, 7, 4},
          PtyBytes{1, 2, "\x1b[H"},
          PtyTaken{1, 2, 1},
          ResourcesAllocated{{"4", "GPU-aa"}, {{0, 1}, {7}}, {"note"}, "error"},
          HostActivated{1, {{"A", "\xff"}, {"B", ""}}, {"C"}, 1ULL << 40, 2, "exit code 1"},
          AgentHeartbeat{8, ~0ULL, 7, 1},
          FileBytes{"logs/a", 1ULL << 40, "x", true},
          Inspected{facts, "late", 1, ~0ULL},
          PathsOpen{65535, "why"},
          PathsProbed{{"", "no answer"}},
          CodeMissing{{0, 4'294'967'295U}},
          CodeReceived{4'294'967'295U},
          CodeReady{"/root/.cache", "why"},
          FilesSent{true},
          FromAgent{4'294'967'295U, std::string("\0x", 2)},
          AgentExited{7, "ended by signal 9 (SIGKILL)", 3},
          DevicesAwaited{1, 2, "device 0 is held by run a1"},
          UsageSampled{{{1, 2, 3, ~0ULL, 1ULL << 40, 7}, {4'294'967'295U, 0, 0, 0, 0, {}}}},
          AgentSignalled{15},
          DiskFilled{1ULL << 40, "why"}};
}

TEST(AgentProtocol, CarriesEveryCommandUnchanged) {
  ASSERT_EQ(EveryCommand().size(), std::variant_size_v<AgentCommand>);
  for (std::size_t i = 0; i < EveryCommand().size(); ++i) {
    const std::string frame = EncodeFrame(EveryCommand()[i]);
    const auto decoded = DecodeCommand(Payload(frame));
    ASSERT_TRUE(decoded) << i;
    EXPECT_EQ(decoded->index(), i);
    EXPECT_EQ(EncodeFrame(*decoded), frame) << i;
  }
  const auto start = std::get<StartProcess>(*DecodeCommand(Payload(EncodeFrame(EveryCommand()[3]))));
  EXPECT_EQ(start.argv[3], std::string("\0\n", 2));
  EXPECT_EQ(start.env, (std::vector<std::string>{"A=", "B=b\nb"}));
  EXPECT_EQ(start.process, 4'294'967'295U);
  EXPECT_EQ(start.ready.kind, ReadyWhen::Kind::kCommand);
  EXPECT_EQ(start.ready.argv, (std::vector<std::string>{"curl", ""}));
  EXPECT_EQ(start.passed.at(0).number, 100);
  EXPECT_EQ(start.passed.at(0).content, std::string("s\0cret", 6));
}

TEST(AgentProtocol, CarriesEveryMessageUnchanged) {
  ASSERT_EQ(EveryMessage().size(), std::variant_size_v<AgentMessage>);
  for (std::size_t i = 0; i < EveryMessage().size(); ++i) {
    const std::string frame = EncodeFrame(EveryMessage()[i]);
    const auto decoded = DecodeMessage(Payload(frame));
    ASSERT_TRUE(decoded) << i;
    EXPECT_EQ(decoded->index(), i);
    EXPECT_EQ(EncodeFrame(*decoded), frame) << i;
  }
  EXPECT_EQ(std::get<ProcessExited>(*DecodeMessage(Payload(EncodeFrame(EveryMessage()[5])))),
            (ProcessExited{1, 2, true, 9, true, 3, 4, 5, 6}));
}

TEST(AgentProtocol, RefusesTruncatedAndOverlongPayloads) {
  for (const AgentCommand& command : EveryCommand()) {
    const std::string payload = Payload(EncodeFrame(command));
    for (std::size_t size = 0; size < payload.size(); ++size) EXPECT_FALSE(DecodeCommand(payload.substr(0, size)));
    EXPECT_FALSE(DecodeCommand(payload + '\0'));
  }
  for (const AgentMessage& message : EveryMessage()) {
    const std::string payload = Payload(EncodeFrame(message));
    for (std::size_t size = 0; size < payload.size(); ++size) EXPECT_FALSE(DecodeMessage(payload.substr(0, size)));
  }
}

TEST(AgentProtocol, RefusesAlternativesThatDoNotExist) {
  EXPECT_FALSE(DecodeCommand(std::string(1, static_cast<char>(std::variant_size_v<AgentCommand>))));
  EXPECT_FALSE(DecodeMessage("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}

TEST(AgentProtocol, SurvivesAnyChangedByte) {
  for (const AgentCommand& command : EveryCommand()) {
    const std::string payload = Payload(EncodeFrame(command));
    for (std::size_t at = 0; at < payload.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        std::string changed = payload;
        changed[at] = static_cast<char>(value);
        // Must decode to nothing, or to a command that round-trips.
        const auto decoded = DecodeCommand(changed);
        ASSERT_TRUE(!decoded || DecodeCommand(Payload(EncodeFrame(*decoded))));
      }
    }
  }
}

TEST(AgentProtocol, BoundsEveryKindOfMessage) {
  for (const AgentMessage& message : EveryMessage()) {
    const std::string payload = Payload(EncodeFrame(message));
    EXPECT_LE(payload.size(), MostMessageBytes(static_cast<unsigned char>(payload[0]))) << message.index();
    EXPECT_LE(MostMessageBytes(static_cast<unsigned char>(payload[0])), kMaxFrame / 2);
  }
  EXPECT_LE(MostMessageBytes(0xff), 64U << 10) << "of a kind that there is not";
}

TEST(AgentProtocol, RefusesListsAndTextsBeyondTheirBounds) {
  HostDumped dumped{0, 1, std::vector<DumpNote>(protocol_bounds::kNotes)};
  EXPECT_TRUE(DecodeMessage(Payload(EncodeFrame(AgentMessage(dumped)))));
  dumped.notes.emplace_back();
  EXPECT_FALSE(DecodeMessage(Payload(EncodeFrame(AgentMessage(dumped)))));
  AgentReady ready;
  ready.address = std::string(protocol_bounds::kHostName, 'a');
  EXPECT_TRUE(DecodeMessage(Payload(EncodeFrame(AgentMessage(ready)))));
  ready.address += 'a';
  EXPECT_FALSE(DecodeMessage(Payload(EncodeFrame(AgentMessage(ready)))));
  EXPECT_FALSE(
      DecodeMessage(Payload(EncodeFrame(AgentMessage(FileBytes{"a", 0, std::string(kMaxFilePart + 1, 'x'), false})))));
}

TEST(AgentProtocol, AllocatesLittleForMillionsOfEmptyElements) {
  // HostDumped with nearly a whole frame of empty notes.
  const std::string count = "\xc0\x9a\xe2\x03";  // 7,900,480
  std::string payload = Payload(EncodeFrame(AgentMessage(HostDumped{})));
  payload.pop_back();
  payload += count + std::string(2 * 7'900'480, '\0');
  EXPECT_FALSE(DecodeMessage(payload));
  FrameReader reader = FrameReader::OfMessages({});
  reader.Feed(std::string("\x00\x1c\xf1\x00", 4) + payload.substr(0, 16));
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.error(), "a message of kind 14 and 15801344 bytes; at most 262144 are allowed")
      << "before it is there";
}

TEST(AgentProtocol, TruncatesOnlyTextsForUsers) {
  const std::string why = std::string(protocol_bounds::kPhrase - 1, 'x') + "größe";
  const auto failed = DecodeMessage(Payload(EncodeFrame(AgentMessage(AgentFailed{why}))));
  ASSERT_TRUE(failed);
  EXPECT_EQ(std::get<AgentFailed>(*failed).why, std::string(protocol_bounds::kPhrase - 1, 'x') + "g");
}

// --- FrameReader -------------------------------------------------------------------------------------

TEST(AgentProtocol, KnowsHeartbeatsByTheirFirstByte) {
  const auto payload = [](const auto& message) { return EncodeFrame(message).substr(4); };
  EXPECT_TRUE(IsHeadHeartbeat(payload(AgentCommand(HeadHeartbeat{7}))));
  EXPECT_FALSE(IsHeadHeartbeat(payload(AgentCommand(Hello{}))));
  EXPECT_FALSE(IsHeadHeartbeat({}));
  EXPECT_TRUE(IsAgentHeartbeat(payload(AgentMessage(AgentHeartbeat{}))));
  EXPECT_FALSE(IsAgentHeartbeat(payload(AgentMessage(AgentReady{}))));
}

TEST(FrameReader, YieldsTheSameFramesForAnySplitOfTheBytes) {
  std::string stream;
  std::vector<std::string> expected;
  for (const AgentCommand& command : EveryCommand()) {
    stream += EncodeFrame(command);
    expected.push_back(Payload(EncodeFrame(command)));
  }
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    FrameReader reader(trial % 2 == 0 ? std::string_view() : kMagic);
    const std::string bytes = trial % 2 == 0 ? stream : "noise muster-agent/ " + std::string(kMagic) + stream;
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = std::min<std::size_t>(1 + random() % (trial < 2 ? 1U : 40U), bytes.size() - at);
      reader.Feed(std::string_view(bytes).substr(at, size));
      at += size;
      while (auto frame = reader.Next()) frames.push_back(std::move(*frame));
    }
    EXPECT_EQ(reader.error(), "");
    ASSERT_EQ(frames, expected);
  }
}

TEST(FrameReader, RefusesATooLongFrameByItsHeader) {
  FrameReader reader;
  reader.Feed(std::string("\x01\x00\x00\x01", 4));  // 2^24 + 1
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.error(), "a frame of 16777217 bytes; at most 16777216 are allowed");
  // The reader stays broken.
  reader.Feed(EncodeFrame(AgentCommand(Finish{})));
  EXPECT_FALSE(reader.Next());
}

TEST(FrameReader, AcceptsFramesOfMaximumSizeAndEmptyFrames) {
  FrameReader reader;
  reader.Feed(std::string("\x00\x00\x00\x00\x00\x00\x00\x01", 8));
  EXPECT_EQ(reader.Next(), "");
  EXPECT_FALSE(reader.Next());
  reader.Feed(std::string(kMaxFrame, 'x'));
  const auto frame = reader.Next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->size(), kMaxFrame);
  EXPECT_EQ(reader.error(), "");
}

TEST(FrameReader, LimitsSkippedNoise) {
  for (const std::size_t noise : {std::size_t{0}, FrameReader::kMaxNoise, FrameReader::kMaxNoise + 1}) {
    FrameReader reader(kMagic);
    reader.Feed(std::string(noise, '.'));
    reader.Next();
    reader.Feed(kMagic);
    reader.Feed(EncodeFrame(AgentCommand(Finish{})));
    EXPECT_EQ(reader.Next().has_value(), noise <= FrameReader::kMaxNoise) << noise;
    EXPECT_EQ(reader.error().empty(), noise <= FrameReader::kMaxNoise) << noise;
  }
}

TEST(FrameReader, TheGreetingNamesTheVersionOfTheProtocol) {
  EXPECT_EQ(kMagic, "muster-agent/" + std::to_string(kProtocolVersion) + "\n");
}

TEST(FrameReader, SkipsTheVersionOfMusterInTheGreeting) {
  const std::string greeting = AgentGreeting();
  EXPECT_TRUE(greeting.starts_with("muster ") && greeting.ends_with("\n" + std::string(kMagic))) << greeting;
  FrameReader reader(kMagic);
  reader.Feed(greeting + EncodeFrame(AgentMessage(AgentHeartbeat{7})));
  const auto payload = reader.Next();
  ASSERT_TRUE(payload) << reader.error();
  EXPECT_TRUE(DecodeMessage(*payload));
}

TEST(FrameReader, NamesTheVersionsOfBothSides) {
  for (const auto& [greeting, version] :
       std::vector<std::pair<std::string, std::string>>{{"muster 0.0.9\nmuster-agent/12\n", "0.0.9"},
                                                        {"motd\nmuster 2.0.0~rc1\nmuster-agent/12\n", "2.0.0~rc1"},
                                                        {"muster \x1b[2J\nmuster-agent/12\n", ""},
                                                        {"amuster 0.0.9\nmuster-agent/12\n", ""},
                                                        {"muster " + std::string(33, '1') + "\nmuster-agent/12\n", ""},
                                                        {"\nmuster-agent/12\n", ""}}) {
    FrameReader reader(kMagic);
    reader.Feed(greeting);
    EXPECT_FALSE(reader.Next());
    EXPECT_EQ(reader.error(), OtherProtocolText("12", version)) << greeting;
  }
  EXPECT_NE(OtherProtocolText("12", "0.0.9").find("protocol 12 (muster 0.0.9), this muster "), std::string::npos);
}

TEST(FrameReader, RecognisesTheGreetingOfAnotherVersion) {
  FrameReader reader(kMagic);
  reader.Feed("Welcome to n7\nmuster-agent/1");
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.error(), "") << "there may be more digits to come";
  reader.Feed("\n");
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.error(), OtherProtocolText("1"));
  EXPECT_TRUE(
      reader.error().starts_with("it speaks protocol 1, this muster " + std::to_string(kProtocolVersion) + " (muster "))
      << reader.error();
  EXPECT_TRUE(reader.error().ends_with("): install the same muster on both hosts")) << reader.error();
  FrameReader talk(kMagic);
  talk.Feed("muster-agent/ is what greets with muster-agent/1.5\n");
  EXPECT_FALSE(talk.Next());
  EXPECT_EQ(talk.error(), "");
}

}  // namespace
}  // namespace muster
