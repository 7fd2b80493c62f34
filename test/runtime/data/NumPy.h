// SPDX-License-Identifier: Apache-2.0
// Runs a Python script with NumPy, the reference for .npy and .npz files.
#ifndef HPCC_TEST_RUNTIME_DATA_NUMPY_H
#define HPCC_TEST_RUNTIME_DATA_NUMPY_H

#include "test/runtime/TemporaryDirectory.h"

#include <cstdlib>

namespace hpcc::test {

/// HPCC_TEST_PYTHON comes from CMake: the project's own environment, or the
/// system's Python.
inline bool hasNumPy() {
  static bool found =
      std::system(HPCC_TEST_PYTHON " -c 'import numpy' 2>/dev/null") == 0;
  return found;
}

/// `numpy` is imported as np; `directory` is the working directory. True when
/// the script ends without an error, so an assert in it is a check.
inline bool runNumPy(const TemporaryDirectory &directory,
                     const std::string &script) {
  directory.write("script.py", "import numpy as np\n" + script);
  std::string command =
      "cd '" + directory.path() + "' && " HPCC_TEST_PYTHON " script.py";
  return std::system(command.c_str()) == 0;
}

} // namespace hpcc::test

#define SKIP_WITHOUT_NUMPY()                                                   \
  if (!hpcc::test::hasNumPy())                                                 \
  GTEST_SKIP() << "no Python with NumPy (" HPCC_TEST_PYTHON ")"

#endif // HPCC_TEST_RUNTIME_DATA_NUMPY_H
