// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_BUFFER_BIO_H_
#define FARCALL_TRANSPORT_TLS_BUFFER_BIO_H_

#include <openssl/bio.h>

#include <cstddef>

#include "absl/strings/string_view.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// OpenSSL's way to the network (BIO_meth_new(3ssl)): what it reads is taken off a Buffer, what it
// writes is packed into blocks. One thread at a time.
class BufferBio {
 public:
  explicit BufferBio(BlockPool& pool) : writer_(pool) {}
  BufferBio(const BufferBio&) = delete;
  BufferBio& operator=(const BufferBio&) = delete;

  // For SSL_set_bio, which owns it. Null: no memory. This outlives it.
  BIO* New();

  // What is read from now on; null: nothing. Outlives its use.
  void set_input(Buffer* input) { input_ = input; }
  Buffer& output() { return output_; }
  // Before output() is taken, when no more follows for now: gives back the block that is not full,
  // so that an idle connection keeps none. `waits`: earlier output still waits to be sent. Then a
  // small block is kept, so that many small outputs share it.
  void Rest(bool waits);

 private:
  static int Read(BIO* bio, char* to, int size);
  static int Write(BIO* bio, const char* from, int size);
  static long Control(BIO* bio, int command, long number, void* pointer);
  static const BIO_METHOD* Method();

  Buffer* input_ = nullptr;
  Buffer output_;
  BlockWriter writer_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_BUFFER_BIO_H_
