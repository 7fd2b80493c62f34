// SPDX-License-Identifier: Apache-2.0
// A directory of its own for a test, removed with everything in it.
#ifndef HPCC_TEST_RUNTIME_TEMPORARYDIRECTORY_H
#define HPCC_TEST_RUNTIME_TEMPORARYDIRECTORY_H

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <stdlib.h>
#include <string>

namespace hpcc::test {

class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string name =
        (std::filesystem::temp_directory_path() / "hpcc-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  std::string path(const std::string &name = "") const {
    return name.empty() ? directory : directory + "/" + name;
  }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

private:
  std::string directory;
};

inline std::string readAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace hpcc::test

#endif // HPCC_TEST_RUNTIME_TEMPORARYDIRECTORY_H
