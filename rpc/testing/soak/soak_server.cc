// SPDX-License-Identifier: Apache-2.0
//
// A server of the soak (docs/soak.md): killed, stopped and restarted by tools/soak. SIGTERM stops
// it gracefully; exit code 0 then says that no call was left without its answer.

#include <signal.h>
#include <sys/prctl.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "rpc/closure.h"
#include "rpc/runtime/server.h"
#include "rpc/testing/soak/soak.pb.h"
#include "rpc/testing/soak/soak_ledger.h"

ABSL_FLAG(std::string, listen, "127.0.0.1:0", "address; port 0: the system chooses");
ABSL_FLAG(std::string, ledger, "", "the file where writes are counted");
ABSL_FLAG(int, grace_ms, 5000, "how long SIGTERM waits for calls that run");

namespace farcall {
namespace {

class SoakService final : public soak::Soak {
 public:
  explicit SoakService(SoakLedger& ledger) : ledger_(ledger) {}

  void Read(google::protobuf::RpcController* controller, const soak::Request* request,
            soak::Response* response, google::protobuf::Closure* done) override {
    Answer(controller, *request, *response, done);
  }
  void Write(google::protobuf::RpcController* controller, const soak::Request* request,
             soak::Response* response, google::protobuf::Closure* done) override {
    if (!ledger_.Run(request->id())) controller->SetFailed("no such write");
    Answer(controller, *request, *response, done);
  }

 private:
  static void Answer(google::protobuf::RpcController* rpc_controller, const soak::Request& request,
                     soak::Response& response, google::protobuf::Closure* done) {
    const ClosureGuard answer(done);
    auto& controller = *static_cast<Controller*>(rpc_controller);
    if (request.work_us() > 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(request.work_us()));
    }
    response.set_id(request.id());
    controller.response_attachment().Append(std::move(controller.request_attachment()));
  }

  SoakLedger& ledger_;
};

int Fail(const absl::Status& why) {
  std::fprintf(stderr, "soak_server: %s\n", why.ToString().c_str());
  return 1;
}

int Main() {
  // Before any thread starts: all of them leave it to sigwait.
  sigset_t terminate;
  ::sigemptyset(&terminate);
  ::sigaddset(&terminate, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &terminate, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);

  const auto ledger = SoakLedger::Open(absl::GetFlag(FLAGS_ledger));
  if (!ledger.ok()) return Fail(ledger.status());
  SoakService service(**ledger);
  Server server;
  absl::Status status = server.AddService(&service, SERVER_DOESNT_OWN_SERVICE);
  if (status.ok()) status = server.Start(absl::GetFlag(FLAGS_listen));
  if (!status.ok()) return Fail(status);
  std::printf("listening on %s\n", server.listen_address().ToString().c_str());
  std::fflush(stdout);

  int signal = 0;
  ::sigwait(&terminate, &signal);
  status = server.Stop(std::chrono::milliseconds(absl::GetFlag(FLAGS_grace_ms)));
  return status.ok() ? 0 : Fail(status);
}

}  // namespace
}  // namespace farcall

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("a server of the soak");
  absl::ParseCommandLine(argc, argv);
  return farcall::Main();
}
