#include "cel/context.h"

#include <algorithm>
#include <cstring>

namespace mindgate::cel {
namespace {

// Deeper than a JSON document and an expression make together.
constexpr size_t kDeepestCompared = 1000;

}  // namespace
Value Context::Stopped() {
  limit_.beyond_limit = true;
  switch (reason_) {
    case Reason::kMemory:
      limit_.message = "the expression needs more memory than it may have";
      limit_.hint = "make shorter texts and lists";
      break;
    case Reason::kDepth:
      limit_.message = "the expression compares values that are nested too deep";
      break;
    case Reason::kSteps:
      limit_.message = "the expression takes more steps than it may";
      limit_.hint = "put the cheapest condition first, and nest fewer loops over lists and maps";
      break;
  }
  return Value::Of(&limit_);
}

Value Context::Join(std::initializer_list<std::string_view> texts) {
  size_t size = 0;
  for (const std::string_view text : texts) size += text.size();
  if (!ChargeText(size)) return Stopped();
  char* joined = Row<char>(size);
  if (stopped_) return Stopped();
  size_t at = 0;
  for (const std::string_view text : texts) {
    if (!text.empty()) std::memcpy(joined + at, text.data(), text.size());
    at += text.size();
  }
  return Value::OfString({joined, size});
}

Value Context::Fail(std::initializer_list<std::string_view> message) {
  const Value text = Join(message);
  if (text.is_error()) return text;
  Fault* fault = Row<Fault>(1);
  if (fault == nullptr) return Stopped();
  *fault = Fault{};
  fault->message = text.text();
  return Value::Of(fault);
}

Value Context::Some(const Value& value) {
  const Value* kept = Keep(value);
  return kept == nullptr ? Stopped() : Value::OfOptional(kept);
}

std::optional<int> Context::Order(const Value& a, const Value& b) {
  if (a.kind() == b.kind() && (a.is_string() || a.kind() == Kind::kBytes)) {
    if (!ChargeText(std::min(a.text().size(), b.text().size()))) return std::nullopt;
  }
  return Compare(a, b);
}

std::optional<Value> Context::Lookup(const Value& map, const Value& key) {
  if (key.is_string() && !ChargeText(key.text().size())) return std::nullopt;
  return map.Lookup(key);
}

bool Context::EqualRows(const Value& a, const Value& b, size_t depth) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a.is_list()) {
      if (!EqualAt(a.At(i), b.At(i), depth + 1)) return false;
      continue;
    }
    const auto other = Lookup(b, a.KeyAt(i));
    if (!other || !EqualAt(a.ValueAt(i), *other, depth + 1)) return false;
  }
  return true;
}

bool Context::EqualAt(const Value& a, const Value& b, size_t depth) {
  if (!Charge(1)) return false;
  if (depth > kDeepestCompared) return Stop(Reason::kDepth);
  if (a.kind() != b.kind()) return EqualScalars(a, b);
  switch (a.kind()) {
    case Kind::kList:
    case Kind::kMap:
      return EqualRows(a, b, depth);
    case Kind::kOptional:
      if (a.optional() == nullptr || b.optional() == nullptr) return a.optional() == b.optional();
      return EqualAt(*a.optional(), *b.optional(), depth + 1);
    case Kind::kString:
    case Kind::kBytes:
      if (a.text().size() != b.text().size() || !ChargeText(a.text().size())) return false;
      return a.text() == b.text();
    default:
      return EqualScalars(a, b);
  }
}

void TextBuilder::Add(std::string_view text) {
  if (text.empty() || !context_.ChargeText(text.size())) return;
  if (size_ + text.size() > capacity_) {
    const size_t capacity = std::max<size_t>({32, 2 * capacity_, size_ + text.size()});
    char* data = context_.Row<char>(capacity);
    if (data == nullptr) return;
    if (size_ > 0) std::memcpy(data, data_, size_);
    data_ = data;
    capacity_ = capacity;
  }
  std::memcpy(data_ + size_, text.data(), text.size());
  size_ += text.size();
}

Value TextBuilder::Finish() const {
  return context_.stopped() ? context_.Stopped() : Value::OfString(text());
}

bool ItemBuilder::Add(const Value& value) {
  if (context_.stopped()) return false;
  if (size_ == capacity_) {
    const size_t capacity = std::max<size_t>(8, 2 * capacity_);
    auto* data = context_.Row<Value>(capacity);
    if (data == nullptr) return false;
    std::copy_n(data_, size_, data);
    data_ = data;
    capacity_ = capacity;
  }
  data_[size_++] = value;
  return true;
}

Value ItemBuilder::Finish() const {
  return context_.stopped() ? context_.Stopped() : Value::OfItems({data_, size_});
}

}  // namespace mindgate::cel
