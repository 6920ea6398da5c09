#include "wire/connection/wire.h"

#include <cerrno>
#include <cstring>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace muster {
namespace {

constexpr std::size_t kReadBytes = 64U << 10;
constexpr std::size_t kWriteBytes = 64U << 10;  // amount written before urgent bytes get another chance

// Without SIGPIPE if the peer has closed; plain write(2) for descriptors that are not sockets, for which the owner of
// the process must ignore SIGPIPE.
ssize_t WriteSome(int fd, std::string_view bytes) {
  const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  return ::write(fd, bytes.data(), bytes.size());
}

bool TryAgain(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

tl::expected<std::shared_ptr<Wire>, std::string> Wire::Make(boost::asio::io_context& io, UniqueFd in, UniqueFd out,
                                                            FrameReader reader) {
  const std::shared_ptr<Wire> wire(new Wire(io, std::move(reader)));
  if (out) wire->out_.emplace(io.get_executor());
  const auto take = [](Stream& stream, UniqueFd& fd) {
    const int flags = ::fcntl(fd.get(), F_GETFL);
    if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) return errno;
    boost::system::error_code error;
    stream.assign(fd.get(), error);
    if (!error) fd.release();
    return error.value();
  };
  int error = take(wire->in_, in);
  if (error == 0 && out) error = take(*wire->out_, out);
  if (error != 0) return tl::unexpected<std::string>(std::string("cannot wait for it: ") + std::strerror(error));
  return wire;
}

void Wire::Start(OnFrame on_frame, OnEnd on_end, IsUrgent is_urgent) {
  on_frame_ = std::move(on_frame);
  on_end_ = std::move(on_end);
  is_urgent_ = is_urgent;
  buffer_ = std::make_unique_for_overwrite<char[]>(kReadBytes);
  AwaitReadable();
}

void Wire::AwaitReadable() {
  if (awaiting_ || end_ || ended_ || closed_ || !reading_ || ahead_bytes_ >= kMaxAhead) return;
  if (unwritable_) return Read();
  awaiting_ = true;
  in_.async_wait(Stream::wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
    self->awaiting_ = false;
    if (self->ended_ || self->closed_) return;
    // The wait is also cancelled when writing has failed: then the rest is read without waiting.
    if (!error || self->unwritable_) return self->Read();
    if (error != boost::asio::error::operation_aborted) self->NoMore(error.message());
  });
}

void Wire::Read() {
  const ssize_t size = ::read(in_.native_handle(), buffer_.get(), kReadBytes);
  if (size > 0) {
    reader_.Feed(std::string_view(buffer_.get(), static_cast<std::size_t>(size)));
    return Sort();
  }
  if (size < 0 && errno == EINTR) return Read();
  if (size < 0 && TryAgain(errno) && !unwritable_) return AwaitReadable();
  if (size < 0 && TryAgain(errno)) return NoMore({});
  // A peer that was killed resets the connection if it had not read everything: this counts as a normal end.
  reset_ = size < 0 && errno == ECONNRESET;
  NoMore(size == 0 || errno == ECONNRESET ? "" : std::strerror(errno));
}

// Delivers urgent frames among those that have arrived, and queues the others.
void Wire::Sort() {
  while (auto frame = reader_.Next()) {
    if (is_urgent_ != nullptr && is_urgent_(*frame)) {
      on_frame_(std::move(*frame));
      if (ended_ || closed_ || !reading_) return;
      continue;
    }
    ahead_bytes_ += sizeof(std::string) + frame->size();
    ahead_.push_back(std::move(*frame));
  }
  if (!reader_.error().empty()) return NoMore(reader_.error());
  if (!delivering_) Deliver();
  AwaitReadable();
}

void Wire::NoMore(std::string why) {
  if (end_) return;
  end_ = std::move(why);
  if (!reading_) ahead_.clear();
  if (!delivering_) Deliver();
}

void Wire::Deliver() {
  delivering_ = false;
  if (ended_ || closed_) return;
  if (ahead_.empty()) {
    if (end_) End(*end_);
    return;
  }
  if (!reading_) return;
  delivering_ = true;
  if (queued() > kMaxQueued) {
    paused_ = true;
    return;
  }
  std::string frame = std::move(ahead_.front());
  ahead_.pop_front();
  ahead_bytes_ -= sizeof(std::string) + frame.size();
  boost::asio::post(io_, [self = shared_from_this()] { self->Deliver(); });
  on_frame_(std::move(frame));
  AwaitReadable();
}

void Wire::BeginWriting() {
  if (writing_) return;
  writing_ = true;
  if (gather_.count() > 0) gather_until_ = std::chrono::steady_clock::now() + gather_;
  WriteSoon();
}

bool Wire::MayGather() const {
  return gather_.count() > 0 && delivering_ && !paused_ && !ended_ && !closed_ && urgent_.empty() && !when_written_ &&
         queued_bytes_ < kWriteBytes && std::chrono::steady_clock::now() < gather_until_;
}

// From the loop, so that the messages of one turn are written together.
void Wire::WriteSoon() {
  boost::asio::post(io_, [self = shared_from_this()] { self->MayGather() ? self->WriteSoon() : self->Write(); });
}

void Wire::Send(std::string bytes) {
  if (closed_ || unwritable_ || writing_ended_) return;
  queued_bytes_ += bytes.size();
  queued_.push_back(std::move(bytes));
  BeginWriting();
}

void Wire::SendUrgent(const std::string& bytes) {
  if (closed_ || unwritable_ || writing_ended_ || urgent_.size() + bytes.size() > kMaxUrgent) return;
  urgent_ += bytes;
  BeginWriting();
}

// Takes the data to write next: urgent bytes, and other data up to an amount by which later urgent data may be
// delayed.
bool Wire::TakeNext() {
  written_ = 0;
  next_.clear();
  if (greeted_) next_.swap(urgent_);
  while (!queued_.empty() && (next_.empty() || next_.size() + queued_.front().size() <= kWriteBytes)) {
    queued_bytes_ -= queued_.front().size();
    if (next_.empty()) {
      next_ = std::move(queued_.front());
    } else {
      next_ += queued_.front();
    }
    queued_.pop_front();
    greeted_ = true;
  }
  return !next_.empty();
}

void Wire::AwaitWritable() {
  Out().async_wait(Stream::wait_write, [self = shared_from_this()](const boost::system::error_code& error) {
    if (self->closed_) return;
    if (!error) return self->Write();
    if (error == boost::asio::error::operation_aborted) return;
    self->GiveUpWriting();
    self->NoMore(error.message());
  });
}

void Wire::Write() {
  while (!closed_ && (written_ < next_.size() || TakeNext())) {
    if (partial_ != nullptr) *partial_ = true;
    const ssize_t size = WriteSome(Out().native_handle(), std::string_view(next_).substr(written_));
    if (size < 0 && TryAgain(errno)) {
      if (partial_ != nullptr) *partial_ = written_ > 0;
      return AwaitWritable();
    }
    if (size < 0) {
      // The peer is gone: read what it sent before, then end.
      GiveUpWriting();
      boost::system::error_code ignored;
      if (!ended_) in_.cancel(ignored);
      return AwaitReadable();
    }
    written_ += static_cast<std::size_t>(size);
    if (partial_ != nullptr) *partial_ = written_ < next_.size();
  }
  FinishWriting();
}

void Wire::GiveUpWriting() {
  unwritable_ = true;
  queued_.clear();
  queued_bytes_ = 0;
  urgent_.clear();
  FinishWriting();
}

void Wire::FinishWriting() {
  next_.clear();
  written_ = 0;
  writing_ = false;
  Written();
  if (std::exchange(paused_, false)) Deliver();
}

void Wire::EndWriting() {
  if (closed_ || unwritable_ || std::exchange(writing_ended_, true)) return;
  queued_.clear();
  queued_bytes_ = 0;
  urgent_.clear();
  next_.clear();
  written_ = 0;
  ::shutdown(Out().native_handle(), SHUT_WR);
}

void Wire::WhenWritten(std::function<void()> done) {
  when_written_ = std::move(done);
  if (!writing_) Written();
}

void Wire::Written() {
  if (when_written_) std::exchange(when_written_, nullptr)();
}

void Wire::End(std::string why) {
  if (ended_ || closed_) return;
  ended_ = true;
  on_end_(std::move(why));
}

void Wire::Close() {
  if (closed_) return;
  closed_ = true;
  boost::system::error_code ignored;
  in_.close(ignored);
  if (out_) out_->close(ignored);
  Written();
}

}  // namespace muster
