// SPDX-License-Identifier: Apache-2.0
// The header is a Python dictionary literal; this parses the part of the
// syntax that NumPy can emit and refuses everything else.

#include "runtime/data/Npy.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace hpcc::runtime {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

/// Consumes the dictionary from left to right.
class HeaderScanner {
public:
  explicit HeaderScanner(std::string_view text) : rest(text) {}

  void skipSpace() {
    size_t end = rest.find_first_not_of(" \t\n\r\f\v");
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
  }
  bool consume(char expected) {
    skipSpace();
    if (rest.empty() || rest.front() != expected)
      return false;
    rest.remove_prefix(1);
    return true;
  }
  bool consumeWord(std::string_view word) {
    skipSpace();
    if (!rest.starts_with(word))
      return false;
    rest.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> string() {
    skipSpace();
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
      return std::nullopt;
    size_t end = rest.find(rest.front(), 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string_view value = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return value;
  }
  std::optional<int64_t> integer() {
    skipSpace();
    int64_t value = 0;
    auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc())
      return std::nullopt;
    rest.remove_prefix(end - rest.data());
    // Python 2 wrote long integers as 3L.
    if (rest.starts_with('L'))
      rest.remove_prefix(1);
    return value;
  }
  bool atEnd() {
    skipSpace();
    return rest.empty();
  }

private:
  std::string_view rest;
};

struct TypeCode {
  std::string_view code;
  ArrayType type;
};
constexpr TypeCode kTypeCodes[] = {
    {"b1", ArrayType::Bool}, {"u1", ArrayType::U8},  {"i1", ArrayType::I8},
    {"u2", ArrayType::U16},  {"i2", ArrayType::I16}, {"u4", ArrayType::U32},
    {"i4", ArrayType::I32},  {"u8", ArrayType::U64}, {"i8", ArrayType::I64},
    {"f2", ArrayType::F16},  {"f4", ArrayType::F32}, {"f8", ArrayType::F64},
};

Result<ArrayType> parseType(std::string_view descr) {
  std::string quoted = "element type '" + std::string(descr) + "'";
  if (descr.size() != 3)
    return invalidArgument(quoted + " is not supported; save numbers or bool");
  for (const TypeCode &entry : kTypeCodes) {
    if (descr.substr(1) != entry.code)
      continue;
    bool oneByte = byteWidth(entry.type) == 1;
    if (descr[0] == '<' || (oneByte && (descr[0] == '|' || descr[0] == '>')))
      return entry.type;
    if (descr[0] == '>')
      return invalidArgument(quoted + " is big-endian; save it as '<" +
                             std::string(entry.code) + "'");
  }
  return invalidArgument(quoted + " is not supported; save numbers or bool");
}

std::optional<std::vector<int64_t>> parseShape(HeaderScanner &scanner) {
  std::vector<int64_t> shape;
  if (!scanner.consume('('))
    return std::nullopt;
  while (!scanner.consume(')')) {
    std::optional<int64_t> extent = scanner.integer();
    // NumPy itself stops at 32 (64 since 2.0) dimensions.
    if (!extent || shape.size() == 64)
      return std::nullopt;
    shape.push_back(*extent);
    if (!scanner.consume(',')) {
      if (!scanner.consume(')'))
        return std::nullopt;
      break;
    }
  }
  return shape;
}

} // namespace

Result<NpyHeader> parseNpyHeader(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
  if (text.size() < 10 || !text.starts_with(kMagic))
    return invalidArgument("not in .npy format (no \\x93NUMPY at its start)");
  auto byteAt = [&](size_t i) {
    return static_cast<uint64_t>(static_cast<unsigned char>(text[i]));
  };
  uint64_t major = byteAt(6);
  if (major < 1 || major > 3)
    return invalidArgument(".npy version " + std::to_string(major) +
                           " is unknown (1, 2 and 3 are supported)");
  size_t start = major == 1 ? 10 : 12;
  if (text.size() < start)
    return invalidArgument("the .npy header is cut off");
  uint64_t length = byteAt(8) | byteAt(9) << 8;
  if (major > 1)
    length |= byteAt(10) << 16 | byteAt(11) << 24;
  if (length > text.size() - start)
    return invalidArgument("the .npy header should have " +
                           std::to_string(length) + " bytes, but only " +
                           std::to_string(text.size() - start) + " follow");

  HeaderScanner scanner(text.substr(start, length));
  auto malformed = [] {
    return invalidArgument("the .npy header is malformed");
  };
  std::optional<ArrayType> type;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;
  if (!scanner.consume('{'))
    return malformed();
  while (!scanner.consume('}')) {
    std::optional<std::string_view> key = scanner.string();
    if (!key || !scanner.consume(':'))
      return malformed();
    if (*key == "descr" && !type) {
      std::optional<std::string_view> descr = scanner.string();
      if (!descr)
        return invalidArgument("structured element types are not supported; "
                               "save numbers or bool");
      Result<ArrayType> parsed = parseType(*descr);
      if (!parsed)
        return parsed.status();
      type = *parsed;
    } else if (*key == "fortran_order" && !fortran) {
      if (scanner.consumeWord("True"))
        fortran = true;
      else if (scanner.consumeWord("False"))
        fortran = false;
      else
        return malformed();
    } else if (*key == "shape" && !shape) {
      shape = parseShape(scanner);
      if (!shape)
        return malformed();
    } else {
      return malformed();
    }
    if (!scanner.consume(',')) {
      if (!scanner.consume('}'))
        return malformed();
      break;
    }
  }
  if (!scanner.atEnd() || !type || !fortran || !shape)
    return malformed();
  // With one dimension both orders are the same.
  if (*fortran && shape->size() > 1)
    return invalidArgument("stored in Fortran order; save "
                           "numpy.ascontiguousarray(array) instead");
  Result<int64_t> elements = checkedElements(*shape, byteWidth(*type));
  if (!elements)
    return elements.status();
  NpyHeader header;
  header.type = *type;
  header.shape = std::move(*shape);
  header.dataOffset = static_cast<int64_t>(start + length);
  return header;
}

Result<Array> parseNpy(std::string name, std::vector<std::byte> bytes) {
  Result<NpyHeader> header = parseNpyHeader(bytes);
  if (!header)
    return header.status();
  Array array;
  array.name = std::move(name);
  array.type = header->type;
  array.shape = std::move(header->shape);
  int64_t expected = array.elements() * byteWidth(array.type);
  int64_t stored = static_cast<int64_t>(bytes.size()) - header->dataOffset;
  if (stored != expected)
    return invalidArgument("shape " + shapeToString(array.shape) + " of " +
                           toString(array.type) + " needs " +
                           std::to_string(expected) + " bytes, but " +
                           std::to_string(stored) + " are stored");
  bytes.erase(bytes.begin(), bytes.begin() + header->dataOffset);
  array.bytes = std::move(bytes);
  return array;
}

std::string makeNpyHeader(ArrayType type, std::span<const int64_t> shape) {
  std::string descr;
  for (const TypeCode &entry : kTypeCodes)
    if (entry.type == type)
      descr = (byteWidth(type) == 1 ? "|" : "<") + std::string(entry.code);
  std::string dict =
      "{'descr': '" + descr + "', 'fortran_order': False, " + "'shape': (";
  for (int64_t extent : shape)
    dict += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
  dict += "), }";

  bool isLong = dict.size() + 64 > 0xFFFF;
  size_t start = isLong ? 12 : 10;
  dict.append(63 - (start + dict.size()) % 64, ' ');
  dict += '\n';
  std::string header(kMagic);
  header += isLong ? '\2' : '\1';
  header += '\0';
  for (size_t i = 0; i < start - 8; ++i)
    header += static_cast<char>(dict.size() >> (8 * i) & 0xFF);
  return header + dict;
}

} // namespace hpcc::runtime
