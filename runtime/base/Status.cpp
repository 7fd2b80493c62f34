// SPDX-License-Identifier: Apache-2.0
// Names and exit codes of status codes.
#include "runtime/base/Status.h"

using namespace hpcc::runtime;

const char *hpcc::runtime::toString(StatusCode code) {
  switch (code) {
  case StatusCode::ok:
    return "ok";
  case StatusCode::invalidArgument:
    return "invalid argument";
  case StatusCode::environment:
    return "environment";
  case StatusCode::timeout:
    return "timeout";
  case StatusCode::aborted:
    return "aborted";
  case StatusCode::internal:
    return "internal";
  }
  return "unknown";
}

int Status::exitCode() const {
  switch (errorCode) {
  case StatusCode::ok:
    return 0;
  case StatusCode::invalidArgument:
    return 1;
  default:
    return 2;
  }
}
