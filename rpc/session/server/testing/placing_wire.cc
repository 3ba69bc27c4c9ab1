// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/testing/placing_wire.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace farcall {
namespace {

constexpr size_t kMaxReads = 3;

}  // namespace

// What the server has of it.
class PlacingWire::Server final : public Connection {
 public:
  Server(PlacingWire& wire, BlockPool& pool) : wire_(wire), pool_(pool) {}
  ~Server() override { wire_.handler_ = nullptr; }
  void Start(Handler& handler) override { wire_.handler_ = &handler; }
  void Write(Buffer data) override { wire_.written_.Append(std::move(data)); }
  void PauseRead() override { wire_.paused_ = true; }
  void ResumeRead() override {
    wire_.paused_ = false;
    wire_.loop_.Post([this_wire = &wire_] { this_wire->Deliver(); });
  }
  void Close(absl::Status why, CloseMode) override {
    if (std::exchange(wire_.closing_, true)) return;
    wire_.loop_.Post([this_wire = &wire_, why = std::move(why)] { this_wire->End(why); });
  }
  size_t backlog() const override { return 0; }
  BlockPool& pool() override { return pool_; }
  ConnectionInfo info() const override {
    ConnectionInfo info;
    info.peer = Address::Ipv4({192, 0, 2, 1}, 80);
    info.transport = TransportKind::kSimulated;
    return info;
  }

 private:
  PlacingWire& wire_;
  BlockPool& pool_;
};

std::unique_ptr<Connection> PlacingWire::Connect(BlockPool& pool) {
  return std::make_unique<Server>(*this, pool);
}

void PlacingWire::Step(TestRandom& random) {
  if (!reads_.empty() && random.Chance(0.6)) return DeviceWrites(random);
  if (closed() || closing_) return;
  if (unread_) return Deliver();
  random.Chance(0.4) ? Fetch(random) : ReadSome(random);
}

// As a socket: nothing is being fetched.
void PlacingWire::ReadSome(TestRandom& random) {
  if (paused_ || requested_ > received_ || unread() == 0) return;
  const size_t bytes = std::min(unread(), random.Size(400));
  const absl::string_view come = absl::string_view(stream_).substr(received_, bytes);
  const size_t missing = needed_ > input_.size() ? needed_ - input_.size() : 0;
  Buffer target;
  // After a device was given up, bytes come in frames of a link, and have no place.
  if (missing > 0 && random.Chance(0.8)) target = handler_->PlaceFor(0, std::min(missing, bytes));
  const size_t landed = FillPlace(target, come);
  landed_ += landed;
  input_.Append(std::move(target));
  input_.Append(come.substr(landed));
  received_ += bytes;
  requested_ = received_;
  unread_ = true;
  Deliver();
}

// Only the last part of what is needed, as a reference to bytes of an attachment.
void PlacingWire::Fetch(TestRandom& random) {
  const auto open = static_cast<size_t>(
      std::count_if(reads_.begin(), reads_.end(), [](const Read& read) { return !read.stale; }));
  if (paused_ || open == kMaxReads || requested_ == stream_.size()) return;
  const size_t ahead = requested_ - received_;
  if (input_.size() + ahead >= needed_) return;
  const size_t bytes =
      std::min({needed_ - input_.size() - ahead, stream_.size() - requested_, random.Size(200)});
  Read read{handler_->PlaceFor(ahead, bytes), requested_};
  if (read.to.empty()) {
    read.to.Append(std::string(bytes, '\0'));
  } else {
    landed_ += read.to.size();
    read.hold = handler_->HoldPlace();
  }
  requested_ += read.to.size();
  reads_.push_back(std::move(read));
}

// The bytes of the first are complete first; others are written to in any order.
void PlacingWire::DeviceWrites(TestRandom& random) {
  Read& read = reads_[random.Below(reads_.size())];
  const size_t bytes = std::min(read.to.size() - read.written, random.Size(100));
  const absl::string_view source = absl::string_view(stream_).substr(read.offset);
  size_t skip = read.written;
  size_t left = bytes;
  for (const Buffer::Slice& slice : read.to.slices()) {
    const size_t from = std::min<size_t>(skip, slice.length);
    skip -= from;
    const size_t part = std::min<size_t>(left, slice.length - from);
    std::memcpy(slice.block->bytes() + slice.offset + from,
                source.data() + read.written + bytes - left, part);
    left -= part;
  }
  read.written += bytes;
  while (!reads_.empty() && reads_.front().written == reads_.front().to.size()) {
    Read done = std::move(reads_.front());
    reads_.pop_front();
    if (!done.stale && !closed() && !closing_) {
      received_ += done.to.size();
      input_.Append(std::move(done.to));
      unread_ = true;
    }
    done.hold = nullptr;
  }
  if (!closed() && !closing_) Deliver();
}

void PlacingWire::Deliver() {
  if (paused_ || closing_ || handler_ == nullptr || input_.empty()) return;
  unread_ = false;
  needed_ = handler_->OnRead(input_);
}

void PlacingWire::GiveUpGeneration() {
  for (Read& read : reads_) read.stale = true;
  requested_ = received_;
}

void PlacingWire::End(const absl::Status& why) {
  GiveUpGeneration();
  closing_ = true;
  for (const Read& read : reads_) held_at_end_ += read.hold != nullptr;
  input_.Clear();
  if (handler_ != nullptr) std::exchange(handler_, nullptr)->OnClose(why);
}

bool PlacingWire::WritesTo(const char* begin, size_t bytes) const {
  for (const Read& read : reads_) {
    for (const Buffer::Slice& slice : read.to.slices()) {
      const char* const at = slice.view().data();
      if (read.hold != nullptr && at < begin + bytes && begin < at + slice.length) return true;
    }
  }
  return false;
}

uint64_t PlacingWire::TakeFrames() {
  uint64_t frames = 0;
  Frame frame;
  while (!written_.empty() && *CutFrame(written_, FrameLimits(), frame) == 0) ++frames;
  return frames;
}

}  // namespace farcall
