// SPDX-License-Identifier: Apache-2.0
// The flag table of Flags.td, and typed reading of parsed flags. The first
// wrong value is kept as an error; later reads then give defaults.
#pragma once

#include "runtime/base/Status.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/StringSaver.h"

#include <optional>
#include <string>
#include <vector>

namespace hpcc {

enum FlagID {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "tools/hpcc/Flags.inc"
#undef OPTION
};

const llvm::opt::OptTable &flagTable();

/// The command line with the flags of its `--recipe` before its own; where
/// both have a flag, or each has one of two that exclude each other, only the
/// command line's counts.
runtime::Result<llvm::opt::InputArgList>
parseFlags(llvm::ArrayRef<const char *> arguments, llvm::StringSaver &saver);

class FlagReader {
public:
  explicit FlagReader(const llvm::opt::InputArgList &args) : args(args) {}

  bool has(FlagID id) const { return args.hasArg(id); }
  /// Each returns whether the flag was given (and right).
  bool integer(FlagID id, int64_t minimum, int64_t &to);
  /// `range` is for the message: "at least 0", "above 0", "in [0, 1)".
  bool number(FlagID id, double &to, bool (*accepts)(double),
              llvm::StringRef range);
  bool choice(FlagID id, std::string &to,
              llvm::ArrayRef<llvm::StringRef> accepted);
  /// Not empty.
  bool text(FlagID id, std::string &to);
  /// All occurrences, split at commas.
  bool list(FlagID id, std::vector<std::string> &to);
  bool numbers(FlagID id, std::vector<float> &to);

  void fail(std::string message);
  runtime::Status status() const { return error; }

private:
  const llvm::opt::InputArgList &args;
  runtime::Status error;
};

} // namespace hpcc
