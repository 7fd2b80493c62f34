// SPDX-License-Identifier: Apache-2.0
// The flag table, recipes, and typed reading of flags.
#include "tools/hpcc/FlagReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace hpcc;
using namespace llvm::opt;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;
using runtime::invalidArgument;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

#define OPTTABLE_STR_TABLE_CODE
#include "tools/hpcc/Flags.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "tools/hpcc/Flags.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

static constexpr OptTable::Info kFlags[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "tools/hpcc/Flags.inc"
#undef OPTION
};

namespace {
struct FlagTable : GenericOptTable {
  FlagTable() : GenericOptTable(OptionStrTable, OptionPrefixesTable, kFlags) {}
};
} // namespace

const OptTable &hpcc::flagTable() {
  static const FlagTable table;
  return table;
}

//===----------------------------------------------------------------------===//
// Command line and recipe
//===----------------------------------------------------------------------===//

static std::string flagName(unsigned id) {
  return flagTable().getOptionPrefixedName(id).str();
}

static Status unknownFlag(StringRef where, StringRef flag) {
  std::string message = (where + "unknown flag '" + flag + "'").str();
  std::string nearest;
  StringRef name = flag.split('=').first;
  unsigned distance = flagTable().findNearest(flag, nearest);
  if (distance <= std::max<size_t>(2, (name.size() - 2) / 3))
    message +=
        "; did you mean '" + StringRef(nearest).split('=').first.str() + "'?";
  else
    message += "; --help lists all flags";
  return invalidArgument(message);
}

/// Parses and checks what needs no meaning. `where` starts every message.
static Result<InputArgList> parseTokens(ArrayRef<const char *> tokens,
                                        StringRef where) {
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList args = flagTable().ParseArgs(tokens, missingIndex, missingCount);
  if (missingCount)
    return invalidArgument((where + "flag '" + tokens[missingIndex] +
                            "' needs a value; see --help")
                               .str());
  for (Arg *arg : args) {
    if (arg->getOption().getID() == OPT_UNKNOWN)
      return unknownFlag(where, arg->getSpelling());
    if (arg->getOption().getID() == OPT_INPUT &&
        StringRef(arg->getValue()).starts_with("-"))
      return unknownFlag(where, arg->getValue());
    // `--data --val x`: the value was forgotten.
    if (arg->getNumValues() == 1 && arg->getOption().getID() != OPT_INPUT &&
        StringRef(arg->getValue()).starts_with("--"))
      return invalidArgument((where + "flag '" + arg->getSpelling() +
                              "' needs a value, got the flag '" +
                              arg->getValue() + "'")
                                 .str());
  }
  return args;
}

/// One flag a line, quoted as in a shell; `#` starts a comment at the start of
/// a line or behind a blank.
static Result<llvm::SmallVector<const char *>>
readRecipe(StringRef path, llvm::StringSaver &saver) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return invalidArgument(
        ("--recipe: cannot read '" + path + "': " + buffer.getError().message())
            .str());
  llvm::SmallVector<const char *> tokens;
  llvm::SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (auto [index, line] : llvm::enumerate(lines)) {
    size_t comment =
        line.starts_with("#") ? 0 : std::min(line.find(" #"), line.find("\t#"));
    line = line.take_front(comment).trim();
    if (line.empty())
      continue;
    std::string where = (path + ":" + Twine(index + 1) + ": ").str();
    llvm::SmallVector<const char *> words;
    llvm::cl::TokenizeGNUCommandLine(line, saver, words);
    Result<InputArgList> parsed = parseTokens(words, where);
    if (!parsed)
      return parsed.status();
    for (Arg *arg : *parsed)
      if (arg->getOption().getID() == OPT_INPUT ||
          arg->getOption().getID() == OPT_recipe)
        return invalidArgument(where + "a recipe holds flags, not '" +
                               line.str() + "'");
    llvm::append_range(tokens, words);
  }
  return tokens;
}

/// Flags of which a later one replaces an earlier other one.
static constexpr FlagID kExclusive[][2] = {{OPT_gpus, OPT_cpus},
                                           {OPT_epochs, OPT_steps}};

Result<InputArgList> hpcc::parseFlags(ArrayRef<const char *> arguments,
                                      llvm::StringSaver &saver) {
  Result<InputArgList> own = parseTokens(arguments, "");
  if (!own || !own->hasArg(OPT_recipe))
    return own;
  auto recipe = readRecipe(own->getLastArgValue(OPT_recipe), saver);
  if (!recipe)
    return recipe.status();
  auto overridden = [&](FlagID id) {
    if (own->hasArg(id))
      return true;
    return llvm::any_of(kExclusive, [&](auto &pair) {
      return (pair[0] == id && own->hasArg(pair[1])) ||
             (pair[1] == id && own->hasArg(pair[0]));
    });
  };
  llvm::SmallVector<const char *> merged;
  Result<InputArgList> fromRecipe = parseTokens(*recipe, "");
  if (!fromRecipe)
    return fromRecipe;
  for (Arg *arg : *fromRecipe)
    if (!overridden(FlagID(arg->getOption().getUnaliasedOption().getID()))) {
      ArgStringList rendered;
      arg->render(*fromRecipe, rendered);
      for (const char *word : rendered)
        merged.push_back(saver.save(StringRef(word)).data());
    }
  llvm::append_range(merged, arguments);
  return parseTokens(merged, "");
}

//===----------------------------------------------------------------------===//
// Typed reading
//===----------------------------------------------------------------------===//

void FlagReader::fail(std::string message) {
  if (error.ok())
    error = invalidArgument(std::move(message));
}

bool FlagReader::text(FlagID id, std::string &to) {
  Arg *arg = args.getLastArg(id);
  if (!arg)
    return false;
  to = arg->getValue();
  if (to.empty())
    fail(flagName(id) + ": the value is empty");
  return error.ok();
}

bool FlagReader::integer(FlagID id, int64_t minimum, int64_t &to) {
  std::string value;
  if (!text(id, value))
    return false;
  int64_t parsed = 0;
  if (StringRef(value).getAsInteger(10, parsed) || parsed < minimum) {
    fail(flagName(id) + ": expected a whole number of at least " +
         std::to_string(minimum) + ", got '" + value + "'");
    return false;
  }
  to = parsed;
  return true;
}

bool FlagReader::number(FlagID id, double &to, bool (*accepts)(double),
                        StringRef range) {
  std::string value;
  if (!text(id, value))
    return false;
  double parsed = 0;
  if (StringRef(value).getAsDouble(parsed) || !std::isfinite(parsed) ||
      !accepts(parsed)) {
    fail(flagName(id) + ": expected a number " + range.str() + ", got '" +
         value + "'");
    return false;
  }
  to = parsed;
  return true;
}

bool FlagReader::choice(FlagID id, std::string &to,
                        ArrayRef<StringRef> accepted) {
  std::string value;
  if (!text(id, value))
    return false;
  if (!llvm::is_contained(accepted, StringRef(value))) {
    fail(flagName(id) + ": expected " +
         (accepted.size() == 1 ? "" : "one of ") + llvm::join(accepted, ", ") +
         ", got '" + value + "'");
    return false;
  }
  to = value;
  return true;
}

bool FlagReader::list(FlagID id, std::vector<std::string> &to) {
  if (!args.hasArg(id))
    return false;
  to.clear();
  for (const std::string &value : args.getAllArgValues(id)) {
    llvm::SmallVector<StringRef> parts;
    StringRef(value).split(parts, ',');
    for (StringRef part : parts) {
      if (part.trim().empty()) {
        fail(flagName(id) + ": '" + value + "' has an empty element");
        return false;
      }
      to.push_back(part.trim().str());
    }
  }
  return true;
}

bool FlagReader::numbers(FlagID id, std::vector<float> &to) {
  std::vector<std::string> parts;
  if (!list(id, parts))
    return false;
  to.clear();
  for (StringRef part : parts) {
    double value = 0;
    if (part.getAsDouble(value) || !std::isfinite(value)) {
      fail(flagName(id) + ": expected numbers separated by commas, got '" +
           part.str() + "'");
      return false;
    }
    to.push_back(float(value));
  }
  return true;
}
