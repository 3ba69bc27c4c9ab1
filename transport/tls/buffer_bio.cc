// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/buffer_bio.h"

#include <algorithm>

#include "transport/base/check.h"

namespace farcall {

const BIO_METHOD* BufferBio::Method() {
  // A table of functions; never freed, since connections may outlive main.
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "Buffer");
    Check(made != nullptr && BIO_meth_set_read(made, Read) == 1 &&
              BIO_meth_set_write(made, Write) == 1 && BIO_meth_set_ctrl(made, Control) == 1,
          "OpenSSL takes a BIO method");
    return made;
  }();
  return method;
}

BIO* BufferBio::New() {
  BIO* const bio = BIO_new(Method());
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  return bio;
}

void BufferBio::Rest(bool waits) {
  const auto slices = output_.slices();
  const bool small = !slices.empty() && slices.back().block->capacity <= BlockPool::kSmall;
  if (!waits || !small) writer_.Leave();
}

int BufferBio::Read(BIO* bio, char* to, int size) {
  const BufferBio& self = *static_cast<BufferBio*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  if (self.input_ == nullptr || self.input_->empty()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const size_t copied = self.input_->CopyTo(to, static_cast<size_t>(size));
  self.input_->RemoveFront(copied);
  return static_cast<int>(copied);
}

int BufferBio::Write(BIO* bio, const char* from, int size) {
  BufferBio& self = *static_cast<BufferBio*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  // What is encrypted cannot be taken back, so it needs memory even where the pool has none:
  // no more than TlsConnection lets wait.
  const absl::string_view bytes(from, static_cast<size_t>(size));
  if (!self.writer_.Append(bytes, self.output_)) self.output_.Append(bytes);
  return size;
}

long BufferBio::Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH; }

}  // namespace farcall
