#include "cel/context.h"

#include <algorithm>
#include <cstring>

namespace mindgate::cel {
Value Context::Stopped() {
  limit_.beyond_limit = true;
  if (out_of_memory_) {
    limit_.message = "the expression needs more memory than it may have";
    limit_.hint = "make shorter texts and lists";
  } else {
    limit_.message = "the expression takes more steps than it may";
    limit_.hint = "put the cheapest condition first, and nest fewer loops over lists and maps";
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

bool Context::Equal(const Value& a, const Value& b) {
  if (!Charge(1)) return false;
  if (a.kind() != b.kind()) return EqualScalars(a, b);
  switch (a.kind()) {
    case Kind::kList:
      if (a.size() != b.size()) return false;
      for (size_t i = 0; i < a.size(); ++i) {
        if (!Equal(a.At(i), b.At(i))) return false;
      }
      return true;
    case Kind::kMap:
      if (a.size() != b.size()) return false;
      for (size_t i = 0; i < a.size(); ++i) {
        const auto other = b.Lookup(a.KeyAt(i));
        if (!other || !Equal(a.ValueAt(i), *other)) return false;
      }
      return true;
    case Kind::kOptional:
      if (a.optional() == nullptr || b.optional() == nullptr) return a.optional() == b.optional();
      return Equal(*a.optional(), *b.optional());
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
