// SPDX-License-Identifier: Apache-2.0
// Typed access to the JSON of a descriptor.
#include "runtime/base/Attributes.h"

using namespace hpcc::runtime;
using Json = nlohmann::json;

template <typename T> static bool holds(const Json &value) {
  if constexpr (std::is_same_v<T, int64_t>)
    return value.is_number_integer();
  else if constexpr (std::is_same_v<T, double>)
    return value.is_number();
  else if constexpr (std::is_same_v<T, bool>)
    return value.is_boolean();
  else if constexpr (std::is_same_v<T, std::string>)
    return value.is_string();
  else
    return value.is_array() &&
           std::all_of(value.begin(), value.end(), [](const Json &element) {
             return holds<typename T::value_type>(element);
           });
}

Result<Attributes> Attributes::parse(const std::string &text,
                                     std::string where) {
  Json json = Json::parse(text.empty() ? "{}" : text, nullptr,
                          /*allow_exceptions=*/false);
  if (!json.is_object())
    return Status::error(StatusCode::internal,
                         where + ": the descriptor is no JSON object: " + text);
  Attributes attributes;
  if (json.contains("node") && json["node"].is_string())
    where = json["node"].get<std::string>() + " (" + where + ")";
  attributes.json = std::move(json);
  attributes.place = std::move(where);
  return attributes;
}

void Attributes::fail(const char *name, const char *expected) {
  if (!first.ok())
    return;
  std::string got = has(name) ? json[name].dump() : "nothing";
  first = Status::error(StatusCode::internal, place + ": attribute \"" + name +
                                                  "\": expected " + expected +
                                                  ", got " + got);
}

template <typename T>
T Attributes::get(const char *name, const char *expected) {
  if (has(name) && holds<T>(json[name]))
    return json[name].get<T>();
  fail(name, expected);
  return T();
}

int64_t Attributes::integer(const char *name) {
  return get<int64_t>(name, "an integer");
}
int64_t Attributes::integer(const char *name, int64_t fallback) {
  return has(name) ? integer(name) : fallback;
}
double Attributes::real(const char *name) {
  return get<double>(name, "a number");
}
double Attributes::real(const char *name, double fallback) {
  return has(name) ? real(name) : fallback;
}
bool Attributes::flag(const char *name, bool fallback) {
  if (!has(name))
    return fallback;
  // ONNX writes 0 or 1 where the IR writes a boolean.
  if (json[name].is_number_integer())
    return integer(name) != 0;
  return get<bool>(name, "true, false, 0 or 1");
}
std::string Attributes::string(const char *name, std::string fallback) {
  return has(name) ? get<std::string>(name, "a string") : fallback;
}
std::vector<int64_t> Attributes::integers(const char *name) {
  return get<std::vector<int64_t>>(name, "a list of integers");
}
std::vector<int64_t> Attributes::integers(const char *name,
                                          std::vector<int64_t> fallback) {
  return has(name) ? integers(name) : fallback;
}
std::vector<std::string> Attributes::strings(const char *name) {
  return has(name) ? get<std::vector<std::string>>(name, "a list of strings")
                   : std::vector<std::string>();
}
