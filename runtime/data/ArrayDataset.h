// SPDX-License-Identifier: Apache-2.0
// A dataset over arrays that are whole in memory; uint8 stays uint8 there.
#ifndef HPCC_RUNTIME_DATA_ARRAYDATASET_H
#define HPCC_RUNTIME_DATA_ARRAYDATASET_H

#include "runtime/data/Array.h"
#include "runtime/data/Dataset.h"

namespace hpcc::runtime {

class ArrayDataset : public Dataset {
public:
  /// `images`: uint8 or floats [N, ...]; `labels`: integers [N] or floats
  /// [N, C]. Errors name `where` and the array.
  static Result<std::unique_ptr<Dataset>>
  create(const std::string &where, Array images, const Array &labels);

protected:
  void readRaw(int64_t index, std::span<float> into) const override;

private:
  ArrayDataset(const std::string &where, Array images);

  Array images;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_DATA_ARRAYDATASET_H
