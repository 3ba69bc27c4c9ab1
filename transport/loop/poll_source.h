// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_POLL_SOURCE_H_
#define FARCALL_TRANSPORT_LOOP_POLL_SOURCE_H_

namespace farcall {

// Something that a loop asks for work: the sockets, a completion queue. All calls
// come with the loop held. The loop spins on Poll, or arms every source and sleeps,
// and the source need not know which. Poll may add and remove sources; Arm and Disarm
// only arm and disarm.
class PollSource {
 public:
  // Does what is ready, a bounded amount. True: there was something.
  virtual bool Poll() = 0;
  // Asks to be woken through fd(). False: work slipped in meanwhile, poll again; the
  // source is then not armed.
  virtual bool Arm() = 0;
  // Undoes Arm, and consumes what it made readable. Once for each Arm that was granted.
  virtual void Disarm() = 0;
  // Readable when an armed source has work. The same for life.
  virtual int fd() const = 0;

 protected:
  ~PollSource() = default;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_POLL_SOURCE_H_
