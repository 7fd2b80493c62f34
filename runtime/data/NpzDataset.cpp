// SPDX-License-Identifier: Apache-2.0
// Datasets in .npz files.

#include "runtime/data/ArrayDataset.h"
#include "runtime/data/Npz.h"

namespace hpcc::runtime {

Result<std::unique_ptr<Dataset>> openNpzDataset(const std::string &path) {
  Result<NpzReader> reader = NpzReader::open(path);
  if (!reader)
    return reader.status();
  Result<Array> images = reader->read("images");
  if (!images)
    return images.status();
  Result<Array> labels = reader->read("labels");
  if (!labels)
    return labels.status();
  return ArrayDataset::create(path, std::move(*images), *labels);
}

} // namespace hpcc::runtime
