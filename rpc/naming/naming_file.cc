// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming_file.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/naming/naming_file_look.h"
#include "rpc/naming/naming_pace.h"
#include "rpc/naming/naming_publisher.h"

namespace farcall {
namespace {

using Result = NamingFileLook::Result;

class FileNaming final : public Naming {
 public:
  FileNaming(const RuntimeParts& parts, EventLoop& loop, std::string path, Duration interval,
             OnNodes on_nodes)
      : run_blocking_(parts.run_blocking),
        loop_(loop),
        publisher_(absl::StrCat("file://", path), parts.log, std::move(on_nodes)),
        pace_(interval, Duration::zero(), loop.now()),
        file_(std::make_shared<NamingFileLook>(std::move(path))) {
    loop_.SetTimer(timer_, *pace_.due());
  }
  ~FileNaming() override { loop_.CancelTimer(timer_); }

  void Refresh() override {
    pace_.Refresh(loop_.now());
    SetTimer();
  }

 private:
  void SetTimer() {
    if (const std::optional<TimePoint> due = pace_.due()) loop_.SetTimer(timer_, *due);
  }

  // What runs on the other thread knows the file and, as long as this lives, this.
  void Look() {
    pace_.OnStart(loop_.now());
    const bool accepted = run_blocking_(
        [&loop = loop_, file = file_, self = std::weak_ptr<FileNaming*>(self_)]() mutable {
          Result result = file->Look(std::chrono::system_clock::now());
          loop.Post([self = std::move(self), result = std::move(result)]() mutable {
            if (const auto alive = self.lock()) (*alive)->OnLook(std::move(result));
          });
        });
    if (accepted) return;
    pace_.OnFailure(loop_.now());
    SetTimer();
  }

  // From the mailbox. Publishing may destroy this: nothing is touched afterwards.
  void OnLook(Result result) {
    const TimePoint now = loop_.now();
    if (!result.nodes.ok()) {
      pace_.OnFailure(now);
    } else if (result.what == Result::What::kYoung) {
      pace_.OnSuccess(now, NamingFileLook::kSettled);
    } else {
      pace_.OnSuccess(now, std::nullopt);
    }
    SetTimer();
    if (result.what == Result::What::kSame) return publisher_.OnSame();
    if (result.what == Result::What::kYoung) return;
    if (!result.nodes.ok()) return publisher_.OnError(result.nodes.status());
    publisher_.OnNodes(*std::move(result.nodes));
  }

  const std::function<bool(std::function<void()>)> run_blocking_;
  EventLoop& loop_;
  NamingPublisher publisher_;
  NamingPace pace_;
  const std::shared_ptr<NamingFileLook> file_;
  Timer timer_{[this] { Look(); }};
  // Dies with this.
  const std::shared_ptr<FileNaming*> self_ = std::make_shared<FileNaming*>(this);
};

}  // namespace

std::unique_ptr<Naming> StartFileNaming(const RuntimeParts& parts, EventLoop& loop,
                                        std::string path, Duration interval,
                                        Naming::OnNodes on_nodes) {
  return std::make_unique<FileNaming>(parts, loop, std::move(path), interval, std::move(on_nodes));
}

}  // namespace farcall
