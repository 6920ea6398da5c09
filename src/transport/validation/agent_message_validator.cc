#include "transport/validation/agent_message_validator.h"

#include <type_traits>
#include <variant>

namespace muster {
namespace {

template <class Message, class... Listed>
constexpr bool kIsOneOf = (std::is_same_v<Message, Listed> || ...);

// Messages that the channel creates itself; the caller decides what an end means.
template <class Message>
constexpr bool kOfChannel = kIsOneOf<Message, AgentEmpty, AgentLost, AgentUnreachable, ClockCompared, HostCleared,
                                     HostUnheard, HostPaused, StrayMessage>;

// Messages that may come before the greeting.
template <class Message>
constexpr bool kMayBeFirst = kOfChannel<Message> || kIsOneOf<Message, AgentReady, AgentFailed>;

template <class Part, class Command>
void NoteIn(Part& part, const Command& command) {
  if constexpr (requires { part.Note(command); }) part.Note(command);
}

template <class Part, class Message>
constexpr bool kJudges = requires(Part part, const Message& message) {
  part.On(message);
};

template <class Part, class Message>
void JudgeIn(Part& part, const Message& message, MessageVerdict& verdict) {
  if constexpr (kJudges<Part, Message>) {
    if (verdict.why.empty()) verdict = part.On(message);
  }
}

}  // namespace

void AgentMessageValidator::Gave(const AgentCommand& command) {
  std::visit([this](const auto& held) { std::apply([&](auto&... part) { (NoteIn(part, held), ...); }, parts_); },
             command);
}

MessageVerdict AgentMessageValidator::Judge(const ChannelMessage& message) {
  return std::visit(
      [this]<class Message>(const Message& held) -> MessageVerdict {
        if (!kMayBeFirst<Message> && !std::get<HostExpectations>(parts_).ready()) {
          return MessageVerdict::Stray("it sent a message before its greeting");
        }
        return std::apply(
            [&]<class... Part>(Part&... part) {
              static_assert(kOfChannel<Message> || (kJudges<Part, Message> || ...), "no part judges this message");
              MessageVerdict verdict;
              (JudgeIn(part, held, verdict), ...);
              return verdict;
            },
            parts_);
      },
      message);
}

}  // namespace muster
