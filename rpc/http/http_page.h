// SPDX-License-Identifier: Apache-2.0
//
// Pages: what a server's port answers to a browser, a probe or a scraper beside calls.

#ifndef FARCALL_RPC_HTTP_HTTP_PAGE_H_
#define FARCALL_RPC_HTTP_HTTP_PAGE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "rpc/http/http_message.h"

namespace farcall {

struct HttpPage {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

// For GET and HEAD. Runs where handlers run: no loop is held, and several may run at once. What it
// throws is answered with 500.
using HttpPageFunction = std::function<HttpPage(const HttpRequest&)>;

// Pages by their path. Filled before the server starts, then only read, by any thread.
class HttpPages {
 public:
  struct Entry {
    std::string path;  // "/status"
    std::string what;  // for the index: a few words
    HttpPageFunction make;
  };

  // A path that is there already is replaced.
  void Add(absl::string_view path, absl::string_view what, HttpPageFunction make) {
    for (Entry& entry : entries_) {
      if (entry.path == path) {
        entry = Entry{std::string(path), std::string(what), std::move(make)};
        return;
      }
    }
    entries_.push_back(Entry{std::string(path), std::string(what), std::move(make)});
  }
  // Null: there is none.
  const Entry* Find(absl::string_view path) const {
    for (const Entry& entry : entries_) {
      if (entry.path == path) return &entry;
    }
    return nullptr;
  }
  // In the order of adding.
  const std::vector<Entry>& all() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_PAGE_H_
