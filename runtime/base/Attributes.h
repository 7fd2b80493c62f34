// SPDX-License-Identifier: Apache-2.0
// Typed access to the JSON of a descriptor. The first missing or wrongly typed
// attribute is remembered and named together with the node, so that a kernel
// can read everything it needs and check once.
#ifndef HPCC_RUNTIME_BASE_ATTRIBUTES_H
#define HPCC_RUNTIME_BASE_ATTRIBUTES_H

#include "runtime/base/Status.h"
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hpcc::runtime {

class Attributes {
public:
  Attributes() = default;
  /// Parses `text`; `where` names the descriptor in messages.
  static Result<Attributes> parse(const std::string &text, std::string where);

  bool has(const char *name) const { return json.contains(name); }
  const std::string &where() const { return place; }

  // Required when there is no fallback.
  int64_t integer(const char *name);
  int64_t integer(const char *name, int64_t fallback);
  double real(const char *name);
  double real(const char *name, double fallback);
  bool flag(const char *name, bool fallback);
  std::string string(const char *name, std::string fallback);
  std::vector<int64_t> integers(const char *name);
  std::vector<int64_t> integers(const char *name,
                                std::vector<int64_t> fallback);
  std::vector<std::string> strings(const char *name);

  /// The first error of the calls so far.
  Status status() const { return first; }

private:
  template <typename T> T get(const char *name, const char *expected);
  void fail(const char *name, const char *expected);

  nlohmann::json json = nlohmann::json::object();
  std::string place;
  Status first;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_BASE_ATTRIBUTES_H
