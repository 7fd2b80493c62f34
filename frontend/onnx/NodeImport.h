// SPDX-License-Identifier: Apache-2.0
// What an operator's import handler sees of its node: checked attributes,
// inputs as IR values or as constants, and where its results go.
#pragma once

#include "dialects/nn/IR/NN.h"
#include "frontend/onnx/Contents.h"
#include "frontend/onnx/SymbolicTensor.h"
#include "mlir/IR/Builders.h"

namespace hpcc {

class Importer;

/// What an ONNX value name stands for. Exactly one of the three, or nothing
/// where the node that makes it could not be imported.
struct Slot {
  mlir::Value value;
  const FileTensor *constant = nullptr;
  std::optional<SymbolicTensor> symbolic;

  bool isPoisoned() const { return !value && !constant && !symbolic; }
};

class NodeImport {
public:
  NodeImport(Importer &importer, const onnx::NodeProto &node, int ordinal,
             int64_t opset);

  const onnx::NodeProto &proto() const { return node; }
  int64_t opset() const { return version; }
  mlir::Location loc() const { return location; }
  mlir::OpBuilder &builder();

  /// Adds to the list of what cannot be imported.
  llvm::LogicalResult error(const llvm::Twine &message);
  void remark(const llvm::Twine &message);
  void warning(const llvm::Twine &message);
  bool failed() const { return hasFailed; }

  // Attributes. One of the wrong type is an error of the node.
  bool hasAttribute(llvm::StringRef name) const;
  int64_t getInt(llvm::StringRef name, int64_t absent);
  double getFloat(llvm::StringRef name, double absent);
  std::string getString(llvm::StringRef name, llvm::StringRef absent);
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name);
  /// `count` integers in [low, high], or `absent` that many times.
  llvm::FailureOr<llvm::SmallVector<int64_t>>
  getInts(llvm::StringRef name, size_t count, int64_t absent, int64_t low,
          int64_t high);

  // Inputs. An empty name is an absent input.
  unsigned numInputs() const { return node.input_size(); }
  bool hasInput(unsigned index) const;
  llvm::StringRef inputName(unsigned index) const;
  Slot &slot(unsigned index);
  bool isComputed(unsigned index);
  /// As an f32 tensor: computed, parameter or constant. Null after an error.
  mlir::Value input(unsigned index);
  /// As small integers, where it is constant or shape arithmetic.
  std::optional<SymbolicTensor> symbolic(unsigned index);
  /// Constant integers, for axes and the like; an error otherwise.
  llvm::FailureOr<llvm::SmallVector<int64_t>> integers(unsigned index);
  /// A constant float scalar, for ratios and bounds; an error otherwise.
  llvm::FailureOr<double> scalar(unsigned index);

  // Results.
  bool outputUsed(unsigned index) const;
  void setOutput(mlir::Value value);
  void setOutput(SymbolicTensor tensor);
  /// Output 0 is input 0.
  void forwardInput();

  /// Creates an op at the node's location, with its ordinal.
  template <typename Op, typename... Args> Op create(Args &&...args) {
    Op op = Op::create(builder(), location, std::forward<Args>(args)...);
    mark(op);
    return op;
  }
  /// create, and its single result becomes output 0.
  template <typename Op, typename... Args>
  llvm::LogicalResult emit(Args &&...args) {
    setOutput(create<Op>(std::forward<Args>(args)...)->getResult(0));
    return llvm::success();
  }

  /// An f32 tensor type; fails where a dimension is negative or the sizes are
  /// beyond reason.
  llvm::FailureOr<mlir::RankedTensorType>
  tensorType(llvm::ArrayRef<int64_t> shape);
  /// Emits nn.reshape unless the shape is the same already.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value floatConstant(double value);

  Importer &importer;

private:
  const onnx::AttributeProto *find(llvm::StringRef name) const;
  const onnx::AttributeProto *findTyped(llvm::StringRef name,
                                        onnx::AttributeProto::AttributeType);
  void mark(mlir::Operation *op);

  const onnx::NodeProto &node;
  int ordinal;
  int64_t version;
  mlir::Location location;
  bool hasFailed = false;
};

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
/// Whether dimension 0 is the batch.
inline bool hasBatch(mlir::Value value) {
  return !shapeOf(value).empty() &&
         mlir::ShapedType::isDynamic(shapeOf(value)[0]);
}
/// "[N, 3, 224, 224]"
std::string shapeText(llvm::ArrayRef<int64_t> shape);
/// Normalises a negative axis; fails where it is outside [-rank, rank).
llvm::FailureOr<int64_t> normalizeAxis(NodeImport &node, int64_t axis,
                                       int64_t rank);

} // namespace hpcc
