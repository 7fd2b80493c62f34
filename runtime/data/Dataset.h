// SPDX-License-Identifier: Apache-2.0
// Labelled examples by index, from an .npz file, an IDX directory (MNIST's
// format) or a seeded generator, and the SPEC that names them on the command
// line. docs/Data.md is the user's side of this.
#ifndef HPCC_RUNTIME_DATA_DATASET_H
#define HPCC_RUNTIME_DATA_DATASET_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hpcc::runtime {

/// What `--mean` and `--std` do: value = (stored / 255 - mean) / std for uint8,
/// (stored - mean) / std for floats, as torchvision's ToTensor and Normalize.
/// Each is empty, one number, or one per channel.
struct Normalization {
  std::vector<float> mean;
  std::vector<float> deviation;
};

struct DatasetOptions {
  Normalization normalization;
  /// Key of `synthetic:` data.
  uint64_t seed = 0;
};

class Dataset {
public:
  virtual ~Dataset();

  /// The SPEC it came from, for messages.
  const std::string &name() const { return spec; }
  int64_t size() const { return last - first; }
  /// Extents of one example, [C, H, W] for images.
  const std::vector<int64_t> &exampleShape() const { return shape; }
  int64_t exampleElements() const;

  /// Labels are class indices [N], or float vectors [N, labelWidth].
  bool hasClassLabels() const { return floatLabels.empty(); }
  int64_t labelWidth() const { return width; }
  int32_t classLabel(int64_t index) const { return classLabels[first + index]; }
  std::span<const float> vectorLabel(int64_t index) const {
    return std::span(floatLabels).subspan((first + index) * width, width);
  }

  /// Writes example `index` as floats, normalised. Callable from any thread,
  /// does not allocate.
  void read(int64_t index, std::span<float> into) const;

  /// Fixes the number of classes: draws synthetic labels, checks the others.
  /// An error names the first example whose label is not in [0, classes).
  virtual Status setClasses(int64_t classes);
  /// Prepares normalisation; checks it against the number of channels.
  Status setNormalization(const Normalization &normalization);
  /// Keeps examples [begin, end) of those there are now.
  Status restrict(int64_t begin, int64_t end);

protected:
  Dataset(std::string spec, int64_t count, std::vector<int64_t> shape)
      : spec(std::move(spec)), last(count), shape(std::move(shape)) {}

  /// Example `index` of the whole set; 0..1 for what was uint8.
  virtual void readRaw(int64_t index, std::span<float> into) const = 0;

  std::string spec;
  int64_t first = 0;
  int64_t last = 0;
  std::vector<int64_t> shape;
  std::vector<int32_t> classLabels;
  std::vector<float> floatLabels;
  int64_t width = 0;

private:
  // Per channel: value * scale + shift. Empty: nothing to do.
  std::vector<float> scale;
  std::vector<float> shift;
};

/// Opens a SPEC:
///   FILE.npz          arrays `images` (uint8 or float, [N, ...]) and `labels`
///                     (integers [N] or floats [N, C])
///   DIR               IDX files, plain or .gz: the directory's only pair of
///                     *images*idx* and *labels*idx*
///   DIR/PREFIX        the pair whose names start with PREFIX (DIR/train)
///   synthetic:DIMS[:N] N [1024] seeded examples, DIMS such as 3x224x224
/// each with an optional range `[i:j]`, either side of which may be missing;
/// `DIR[0:9000]` needs quotes in shells that expand brackets.
Result<std::unique_ptr<Dataset>> openDataset(const std::string &spec,
                                             const DatasetOptions &options);

/// The readers that openDataset chooses from.
Result<std::unique_ptr<Dataset>> openNpzDataset(const std::string &path);
Result<std::unique_ptr<Dataset>> openIdxDataset(const std::string &directory,
                                                const std::string &prefix);
Result<std::unique_ptr<Dataset>> openSyntheticDataset(const std::string &dims,
                                                      uint64_t seed);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_DATA_DATASET_H
