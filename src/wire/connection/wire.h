// One end of the connection between head and agent: frames in, frames out, over one socket or a pair of pipes, without
// ever blocking the loop.
//
// Handles descriptors and frames (protocol.h), not their content. Frames are delivered one per turn of the loop; in the
// meantime the wire reads ahead, up to kMaxAhead bytes, so that an urgent frame (a heartbeat) is delivered before the
// backlog that arrived with it. Urgent frames are also written before all other queued frames: a side that is busy with
// thousands of starts still answers heartbeats.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "wire/protocol/protocol.h"

namespace muster {

class Wire : public std::enable_shared_from_this<Wire> {
 public:
  using OnFrame = std::function<void(std::string payload)>;
  // Called once, with the reason why nothing more can be read: empty at the normal end of the stream. Queued data is
  // still written, and more can be sent, until Close().
  using OnEnd = std::function<void(std::string why)>;

  // Reading pauses while more than this is queued for writing, so that a peer that does not read is not served.
  static constexpr std::size_t kMaxQueued = 4U << 20;
  // Reading also pauses while more than this has been read and not delivered. It exceeds the capacity of the buffers of
  // ssh and of the kernel between the two sides, so that a heartbeat gets through.
  static constexpr std::size_t kMaxAhead = 4U << 20;
  // Urgent bytes queued beyond this are dropped: a peer that does not read needs no more answers.
  static constexpr std::size_t kMaxUrgent = 64U << 10;

  // Whether a frame is delivered as soon as it is read. Such frames must be valid in any order with the others.
  using IsUrgent = bool (*)(std::string_view payload);

  // `out` may be empty: `in` is then used in both directions. Both become non-blocking. The error is a phrase. A
  // regular file, which cannot be polled, causes an error when the wire is used.
  static tl::expected<std::shared_ptr<Wire>, std::string> Make(boost::asio::io_context& io, UniqueFd in, UniqueFd out,
                                                               FrameReader reader);

  // Starts reading. Neither function is called after Close(); the wire keeps both, so they must not own it.
  void Start(OnFrame on_frame, OnEnd on_end, IsUrgent is_urgent = nullptr);

  // While further frames wait here to be delivered, keeps what Send() queues, to write it together with the answers to
  // them, until this time has passed and the frame being delivered then is done. Urgent data is not kept.
  void GatherFor(std::chrono::milliseconds time) { gather_ = time; }

  // Queues the bytes, whole frames; does nothing once writing has failed, or after Close().
  void Send(std::string bytes);
  // The same, before all data that was queued by Send() and is not yet being written. The first data, the greeting, is
  // never overtaken.
  void SendUrgent(const std::string& bytes);

  // Whether the connection ended by a reset, which is reported as a normal end: the peer was killed, or a network
  // device between the two has dropped the connection.
  bool reset() const { return reset_; }

  // Bytes queued for writing.
  std::size_t queued() const { return next_.size() - written_ + queued_bytes_ + urgent_.size(); }

  // Calls `done` once, as soon as everything queued so far has been written or cannot be.
  void WhenWritten(std::function<void()> done);

  // Sets `partial`, which must outlive the wire, while only a part of the bytes of one Send() has been written: another
  // process that has the same socket must not write a frame then. Call it before the first Send().
  void MarkPartial(std::atomic<bool>& partial) { partial_ = &partial; }

  // The peer reads the end of the stream; what is still queued is dropped. Reading continues.
  void EndWriting();

  // Delivers no more frames; continues to write.
  void StopReading() { reading_ = false; }

  void Close();

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Stream = boost::asio::posix::basic_stream_descriptor<Executor>;

  Wire(boost::asio::io_context& io, FrameReader reader) : io_(io), in_(io.get_executor()), reader_(std::move(reader)) {}

  Stream& Out() { return out_ ? *out_ : in_; }
  void Deliver();
  void AwaitReadable();
  void Read();
  void Sort();
  void NoMore(std::string why);
  void AwaitWritable();
  void GiveUpWriting();
  void Write();
  void BeginWriting();
  bool MayGather() const;
  void WriteSoon();
  bool TakeNext();
  void FinishWriting();
  void End(std::string why);
  void Written();

  boost::asio::io_context& io_;
  Stream in_;
  std::optional<Stream> out_;
  FrameReader reader_;
  OnFrame on_frame_;
  OnEnd on_end_;
  IsUrgent is_urgent_ = nullptr;
  std::deque<std::string> ahead_;   // frames read and not delivered
  std::size_t ahead_bytes_ = 0;     // approximate memory of these
  std::optional<std::string> end_;  // why nothing more is read
  std::function<void()> when_written_;
  std::string next_;                // the data being written
  std::size_t written_ = 0;         // of next_
  std::deque<std::string> queued_;  // the data of each Send()
  std::size_t queued_bytes_ = 0;
  std::string urgent_;
  std::chrono::milliseconds gather_{0};
  std::chrono::steady_clock::time_point gather_until_;
  std::atomic<bool>* partial_ = nullptr;
  bool greeted_ = false;            // the first data has been taken for writing
  std::unique_ptr<char[]> buffer_;  // receives one read; not zeroed, as most reads use little of it
  bool reading_ = true;
  bool awaiting_ = false;    // waits for readable data
  bool delivering_ = false;  // a later turn delivers the next frame
  bool paused_ = false;
  bool writing_ = false;
  bool unwritable_ = false;
  bool writing_ended_ = false;  // EndWriting()
  bool reset_ = false;
  bool ended_ = false;   // no more input
  bool closed_ = false;  // no more output either
};

}  // namespace muster
