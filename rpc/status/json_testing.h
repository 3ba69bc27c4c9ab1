// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_JSON_TESTING_H_
#define FARCALL_RPC_STATUS_JSON_TESTING_H_

#include <memory>
#include <string>

namespace farcall {

// A JSON value by somebody else's parser. Places are written "connections.list.0.peer"; a test
// that asks for what is not there fails. The parser's headers take longer to compile than most
// tests, so only the source includes them.
class ParsedJson {
 public:
  explicit ParsedJson(const std::string& text);
  ~ParsedJson();

  bool Has(const std::string& place) const;
  // The parser keeps all that is no array or object as text.
  std::string Text(const std::string& place) const;
  double Number(const std::string& place) const;
  bool Bool(const std::string& place) const { return Text(place) == "true"; }
  bool IsNull(const std::string& place) const { return Text(place) == "null"; }
  // Of an array or an object.
  int Size(const std::string& place) const;

 private:
  struct Tree;
  const std::unique_ptr<const Tree> root_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_JSON_TESTING_H_
