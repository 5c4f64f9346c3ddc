#include "kube/config.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "certs/certificate.h"
#include "json/pointer.h"
#include "kube/access.h"

namespace mindgate::kube {

void ConfigErrors::Add(const std::string& place, const std::string& what,
                       const std::string& instead) {
  std::string line = place.empty() ? what : place + ": " + what;
  if (!instead.empty()) line += " (" + instead + ")";
  lines_.push_back(std::move(line));
}

Fault ConfigErrors::AsFault() const {
  const size_t shown = std::min(lines_.size(), kMax);
  std::string message = Join(std::span(lines_).first(shown), "\n");
  if (shown < lines_.size()) {
    message += "\nand " + std::to_string(lines_.size() - shown) + " more";
  }
  return {.reason = Reason::kCredentials, .message = std::move(message)};
}

ConfigNode::ConfigNode(const ConfigFile& file, const Json* value, std::string pointer)
    : file_(&file),
      value_(value == nullptr || value->is_null() ? nullptr : value),
      pointer_(std::move(pointer)) {}

std::string ConfigNode::PositionText() const {
  return json::PositionText(file_->path, file_->positions.At(pointer_));
}

std::string ConfigNode::Field() const {
  std::string field;
  const Json* at = &file_->root;
  for (const std::string& token : json::Tokens(pointer_).value_or(std::vector<std::string>())) {
    if (json::IsArray(at)) {
      field += "[" + token + "]";
      at = json::Resolve(*at, "/" + token);
    } else {
      field += (field.empty() ? "" : ".") + token;
      at = json::Find(at, token);
    }
  }
  return field;
}

ConfigNode ConfigNode::Member(std::string_view key) const {
  return {*file_, json::Find(value_, key), json::Child(pointer_, key)};
}

bool ConfigNode::Must(bool holds, std::string_view be, ConfigErrors& errors) const {
  if (holds) return true;
  const std::string field = Field();
  std::string instead;
  if (be == "a string" && value_->is_primitive()) instead = "put it in quotes";
  errors.Add(PositionText(),
             (field.empty() ? "the file" : field) + " must be " + std::string(be) + ", not " +
                 WithArticle(json::TypeName(*value_)),
             instead);
  return false;
}

ConfigNode ConfigNode::Object(std::string_view key, ConfigErrors& errors) const {
  const ConfigNode member = Member(key);
  if (!member || !member.Must(member.value().is_object(), "an object", errors)) {
    return {*file_, nullptr, member.pointer_};
  }
  return member;
}

std::string ConfigNode::Text(std::string_view key, ConfigErrors& errors) const {
  const ConfigNode member = Member(key);
  if (!member || !member.Must(member.value().is_string(), "a string", errors)) return {};
  return member.value().get<std::string>();
}

std::string ConfigNode::RequiredText(std::string_view key, std::string_view instead,
                                     ConfigErrors& errors) const {
  std::string text = Text(key, errors);
  const ConfigNode member = Member(key);
  if (text.empty() && (!member || member.value().is_string())) {
    errors.Add(member.PositionText(), Field() + " has no " + std::string(key),
               std::string(instead));
  }
  return text;
}

bool ConfigNode::Flag(std::string_view key, ConfigErrors& errors) const {
  const ConfigNode member = Member(key);
  if (!member || !member.Must(member.value().is_boolean(), "true or false", errors)) {
    return false;
  }
  return member.value().get<bool>();
}

std::vector<ConfigNode> ConfigNode::Items(std::string_view key, ConfigErrors& errors) const {
  const ConfigNode member = Member(key);
  if (!member || !member.Must(member.value().is_array(), "a list", errors)) return {};
  std::vector<ConfigNode> items;
  for (size_t i = 0; i < member.value().size(); ++i) {
    items.push_back({*file_, &member.value()[i], json::Child(member.pointer_, i)});
  }
  return items;
}

const MaterialKind kAuthority{"certificate-authority", ReadCertificatesFile, CertificatesFault};
const MaterialKind kCertificate{"client-certificate", ReadCertificatesFile, CertificatesFault};
const MaterialKind kKey{"client-key", ReadKeyFile, KeyFault};

Material ReadMaterial(const ConfigNode& node, const MaterialKind& kind, ConfigErrors& errors) {
  Material material;
  const ConfigNode data = node.Member(std::string(kind.name) + "-data");
  const std::string encoded = node.Text(std::string(kind.name) + "-data", errors);
  if (!encoded.empty()) {
    material.given = true;
    material.place = data.PositionText();
    auto text = certs::DecodeBase64(encoded);
    const std::string fault =
        text ? kind.fault_of(*text) : "not base64: write the PEM text base64-encoded";
    if (fault.empty()) {
      material.text = *std::move(text);
    } else {
      errors.Add(data.PositionText(), data.Field() + ": " + fault);
    }
    return material;
  }
  const std::string path = node.Text(kind.name, errors);
  if (path.empty()) return material;
  const ConfigNode member = node.Member(kind.name);
  material.given = true;
  material.path = PathFrom(node.file(), path);
  material.place = member.PositionText();
  if (auto text = kind.read(material.path)) {
    material.text = *std::move(text);
  } else {
    errors.Add(member.PositionText(), member.Field() + ": " + std::move(text).error().message);
  }
  return material;
}

Material ReadMaterialFile(const std::string& place, const std::string& path,
                          const MaterialKind& kind, ConfigErrors& errors) {
  std::error_code ignored;
  Material material;
  material.given = true;
  material.path = std::filesystem::absolute(path, ignored).lexically_normal().string();
  material.place = place;
  if (auto text = kind.read(material.path)) {
    material.text = *std::move(text);
  } else {
    errors.Add(place, std::move(text).error().message);
  }
  return material;
}

std::string PathFrom(const ConfigFile& file, const std::string& path) {
  if (path.empty()) return path;
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(FolderOf(file.path), ignored);
  return (folder / path).lexically_normal().string();
}

namespace {

bool IsPort(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), digit)) {
    return false;
  }
  const auto number = ParseGoInt(text);
  return number && *number >= 1 && *number <= 65535;
}

bool IsHostAndPort(std::string_view text) {
  size_t end = text.find(':');
  if (text.starts_with('[')) {
    const size_t bracket = text.find(']');
    if (bracket == std::string_view::npos || bracket == 1) return false;
    end = bracket + 1 == text.size() ? std::string_view::npos : bracket + 1;
  }
  if (end == 0) return false;
  if (end == std::string_view::npos) return !text.empty();
  return text[end] == ':' && IsPort(text.substr(end + 1));
}

}  // namespace

ServerUrl ReadServerUrl(std::string_view text) {
  const size_t colon = text.find("://");
  const std::string scheme =
      colon == std::string_view::npos ? "" : ToLower(text.substr(0, colon + 3));
  if (text.find('@') != std::string_view::npos) {  // which may stand behind a password
    return {"", "the server's URL holds a user name or an @",
            "write https://ADDRESS:PORT; credentials belong to a user"};
  }
  if (scheme != "https://" && scheme != "http://") {
    return {"", Quote(text) + " does not begin with https:// or http://",
            "write https://ADDRESS:PORT"};
  }
  std::string_view rest = text.substr(scheme.size());
  const auto odd = [](char c) { return c <= ' ' || c == 0x7f || c == '?' || c == '#'; };
  if (std::any_of(rest.begin(), rest.end(), odd) ||
      !IsHostAndPort(rest.substr(0, rest.find('/')))) {
    return {"", Quote(text) + " is not the URL of an API server", "write https://ADDRESS:PORT"};
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  return {scheme + std::string(rest), "", ""};
}

bool IsProxyUrl(std::string_view text) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"http://", "https://", "socks5://"},
      [&](std::string_view scheme) {
        return text.size() > scheme.size() &&
               EqualIgnoreCase(text.substr(0, scheme.size()), scheme) && text[scheme.size()] != '/';
      });
}

std::string UrlOf(const std::string& host, const std::string& port) {
  const bool is_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return "https://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + port;
}

}  // namespace mindgate::kube
