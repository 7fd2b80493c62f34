// SPDX-License-Identifier: Apache-2.0
// Status and Result: how functions of the runtime report failure. No exception
// leaves the runtime and no library code ends the process. The code says who
// can do something about it; the message says what, expected, got, what to do.
#ifndef HPCC_RUNTIME_BASE_STATUS_H
#define HPCC_RUNTIME_BASE_STATUS_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace hpcc::runtime {

enum class StatusCode {
  ok,
  /// The model, the data or a flag is wrong: the user can fix it (exit 1).
  invalidArgument,
  /// A device, a disk or a library failed or refuses (exit 2).
  environment,
  /// A worker did not arrive in time (exit 2).
  timeout,
  /// Another worker failed first; the message is that worker's (exit 2).
  aborted,
  /// A broken promise of hpcc itself: never the user's fault (exit 2).
  internal,
};

/// The name of a code, for messages and tests.
const char *toString(StatusCode code);

/// Success, or a code and a message.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status success() { return {}; }
  static Status error(StatusCode code, std::string message) {
    assert(code != StatusCode::ok && "an error needs a code");
    Status status;
    status.errorCode = code;
    status.text = std::move(message);
    return status;
  }

  bool ok() const { return errorCode == StatusCode::ok; }
  explicit operator bool() const { return ok(); }
  StatusCode code() const { return errorCode; }
  const std::string &message() const { return text; }

  /// The process exit code that this status asks for.
  int exitCode() const;

private:
  StatusCode errorCode = StatusCode::ok;
  std::string text;
};

/// The two errors that nearly every function of the runtime can report.
inline Status invalidArgument(std::string message) {
  return Status::error(StatusCode::invalidArgument, std::move(message));
}
inline Status environmentError(std::string message) {
  return Status::error(StatusCode::environment, std::move(message));
}

/// A value, or the status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : content(std::move(value)) {}
  Result(Status error) : content(std::move(error)) {
    assert(!std::get<Status>(content).ok() && "a Result needs a value");
  }

  bool ok() const { return std::holds_alternative<T>(content); }
  explicit operator bool() const { return ok(); }
  T &operator*() & { return std::get<T>(content); }
  const T &operator*() const & { return std::get<T>(content); }
  T &&operator*() && { return std::get<T>(std::move(content)); }
  T *operator->() { return &std::get<T>(content); }
  const T *operator->() const { return &std::get<T>(content); }

  Status status() const {
    return ok() ? Status::success() : std::get<Status>(content);
  }

private:
  std::variant<T, Status> content;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_BASE_STATUS_H
