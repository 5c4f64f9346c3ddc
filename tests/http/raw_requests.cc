#include "http/raw_requests.h"

#include <gtest/gtest.h>

namespace mindgate::http::testing {
namespace {

const std::string kPost = "POST /mutate HTTP/1.1";
const std::string kHost = "Host: a";
const std::string kJson = "Content-Type: application/json";
const std::string kTwo = "Content-Length: 2";
const std::string kMutate = "POST /mutate|{}";

std::vector<std::string> Headers(size_t count) {
  std::vector<std::string> lines = {kPost, kHost, kJson, kTwo};
  for (size_t i = 3; i < count; ++i) lines.push_back("X-" + std::to_string(i) + ": 1");
  return lines;
}

// A head of exactly `size` bytes, the empty line included.
std::string HeadOf(size_t size) {
  const size_t rest = Head({kPost, kHost, kJson, kTwo, "X: "}).size();
  return Head({kPost, kHost, kJson, kTwo, "X: " + std::string(size - rest, 'x')}, "{}");
}

std::string Target(size_t size) { return "/" + std::string(size - 1, 'a'); }

std::vector<RawRequest> MakeRawRequests() {
  const Port probe = Port::kGets;
  return {
      // Right.
      {"as kube-apiserver sends it", Post("{}"), "POST /mutate?timeout=5s|{}"},
      {"two pipelined", Post("{}") + Post("[]", "", "/validate"),
       "POST /mutate?timeout=5s|{}, POST /validate|[]"},
      {"charset utf-8",
       Head({kPost, kHost, "content-type:application/json; charset=UTF-8", kTwo}, "{}"), kMutate},
      {"charset utf-8 quoted",
       Head({kPost, kHost, "CONTENT-TYPE: application/json;charset=\"utf-8\"", kTwo}, "{}"),
       kMutate},
      {"leading zeros in the length", Head({kPost, kHost, kJson, "Content-Length: 0002"}, "{}"),
       kMutate},
      {"empty body", Head({kPost, kHost, kJson, "Content-Length: 0"}), "POST /mutate|"},
      {"body with bytes of a request inside", Post("POST / HTTP/1.1\r\n\r\n"),
       "POST /mutate?timeout=5s|POST / HTTP/1.1\r\n\r\n"},
      {"empty header value", Head({kPost, kHost, kJson, kTwo, "X-Empty:"}, "{}"), kMutate},
      {"tab and obs-text in a value", Head({kPost, kHost, kJson, kTwo, "X: a\t\xc3\xa9"}, "{}"),
       kMutate},
      {"expectation in any case", Head({kPost, kHost, kJson, kTwo, "Expect: 100-Continue"}, "{}"),
       kMutate},
      {"range is ignored", Post("{}", "Range: bytes=0-1\r\n"), "POST /mutate?timeout=5s|{}"},
      {"100 headers", Head(Headers(100), "{}"), kMutate},
      {"head of 16384 bytes", HeadOf(16384), kMutate},
      {"target of 2048 bytes",
       Head({"POST " + Target(2048) + " HTTP/1.1", kHost, kJson, kTwo}, "{}"),
       "POST " + Target(2048) + "|{}"},
      {"probe", Head({"GET /readyz?verbose HTTP/1.1", kHost}), "GET /readyz?verbose|", probe},
      {"probe with question marks in its query", Head({"GET /readyz?a?b??c HTTP/1.1", kHost}),
       "GET /readyz?a?b??c|", probe},
      {"probe by HEAD", Head({"HEAD /livez HTTP/1.1", kHost}), "HEAD /livez|", probe},
      {"probe with length 0", Head({"GET /livez HTTP/1.1", kHost, "Content-Length: 0"}),
       "GET /livez|", probe},
      {"two probes", Head({"GET /livez HTTP/1.1", kHost}) + Head({"GET /readyz HTTP/1.1", kHost}),
       "GET /livez|, GET /readyz|", probe},
      // Unfinished.
      {"nothing", "", "..."},
      {"head without its end", "POST /mutate HTTP/1.1\r\nHost: a\r\n", "..."},
      {"body one byte short", Head({kPost, kHost, kJson, "Content-Length: 3"}, "{}"), "..."},

      // Request line.
      {"no version", Head({"POST /mutate", kHost}), "!request_line"},
      {"two spaces", Head({"POST  /mutate HTTP/1.1", kHost}), "!request_line"},
      {"space in the target", Head({"POST /mu tate HTTP/1.1", kHost}), "!request_line"},
      {"space after the version", Head({"POST /mutate HTTP/1.1 ", kHost}), "!request_line"},
      {"leading empty line", "\r\n" + Post("{}"), "!request_line"},
      {"absolute target", Head({"POST http://a/mutate HTTP/1.1", kHost}), "!request_line"},
      {"fragment", Head({"POST /mutate#x HTTP/1.1", kHost}), "!request_line"},
      {"non-ASCII target", Head({"POST /mut\xc3\xa4te HTTP/1.1", kHost}), "!request_line"},
      {"TLS on a plain port", std::string("\x16\x03\x01\x02\x00\x01\x00\r\n", 9), "!control_byte"},
      {"HTTP/1.0", Head({"POST /mutate HTTP/1.0", kHost, kJson, kTwo}, "{}"), "!version"},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "!version"},
      {"HTTP/1.10", Head({"POST /mutate HTTP/1.10", kHost}), "!version"},
      {"lower-case protocol", Head({"POST /mutate http/1.1", kHost}), "!request_line"},
      {"GET for a review", Head({"GET /mutate HTTP/1.1", kHost}), "!not_post"},
      {"PUT for a review", Head({"PUT /mutate HTTP/1.1", kHost, kJson, kTwo}, "{}"), "!not_post"},
      {"lower-case method", Head({"post /mutate HTTP/1.1", kHost}), "!not_post"},
      {"POST to a probe", Head({"POST /readyz HTTP/1.1", kHost}), "!not_get", probe},
      {"target of 2049 bytes", Head({"POST " + Target(2049) + " HTTP/1.1", kHost}),
       "!target_too_long"},
      {"request line without an end", "POST /" + std::string(20000, 'a'), "!target_too_long"},

      // Lines and headers.
      {"bare LF", "POST /mutate HTTP/1.1\nHost: a\r\n\r\n", "!line_ending"},
      {"bare LF after a header", "POST /mutate HTTP/1.1\r\nHost: a\n\r\n", "!line_ending"},
      {"bare LF for the empty line", "POST /mutate HTTP/1.1\r\nHost: a\r\n\n", "!line_ending"},
      {"bare CR in a value", Head({kPost, "Host: a\rX: b"}), "!line_ending"},
      {"two CRs", "POST /mutate HTTP/1.1\r\r\nHost: a\r\n\r\n", "!line_ending"},
      {"NUL in a value", Head({kPost, kHost, std::string("X: a\0b", 6)}), "!control_byte"},
      {"escape in a value", Head({kPost, kHost, "X: \x1b[2J"}), "!control_byte"},
      {"DEL in a name", Head({kPost, kHost, "X\x7f: a"}), "!control_byte"},
      {"obsolete fold", Head({kPost, kHost, "X: a", " b"}), "!folded_header"},
      {"fold by tab", Head({kPost, kHost, "X: a", "\tb"}), "!folded_header"},
      {"fold after the request line", Head({kPost, " X: a", kHost}), "!folded_header"},
      {"space before the colon", Head({kPost, kHost, kJson, "Content-Length : 2"}, "{}"),
       "!header_name"},
      {"no colon", Head({kPost, kHost, "Content-Length"}), "!header_name"},
      {"empty name", Head({kPost, kHost, ": a"}), "!header_name"},
      {"name that is no token", Head({kPost, kHost, "X(y): a"}), "!header_name"},
      {"101 headers", Head(Headers(101), "{}"), "!too_many_headers"},
      {"head of 16385 bytes", HeadOf(16385), "!head_too_large"},
      {"header without an end", kPost + "\r\nX: " + std::string(20000, 'a'), "!head_too_large"},
      {"no host", Head({kPost, kJson, kTwo}, "{}"), "!host"},
      {"two hosts", Head({kPost, kHost, kHost, kJson, kTwo}, "{}"), "!host"},
      {"host with a path", Head({kPost, "Host: a/b", kJson, kTwo}, "{}"), "!host"},
      {"empty host", Head({kPost, "Host:", kJson, kTwo}, "{}"), "!host"},

      // Length and coding: what request smuggling is made of.
      {"no length", Head({kPost, kHost, kJson}), "!no_content_length"},
      {"two equal lengths", Head({kPost, kHost, kJson, kTwo, kTwo}, "{}"), "!content_length"},
      {"two different lengths", Head({kPost, kHost, kJson, kTwo, "Content-Length: 9"}, "{}"),
       "!content_length"},
      {"list of lengths", Head({kPost, kHost, kJson, "Content-Length: 2, 2"}, "{}"),
       "!content_length"},
      {"signed length", Head({kPost, kHost, kJson, "Content-Length: +2"}, "{}"), "!content_length"},
      {"negative length", Head({kPost, kHost, kJson, "Content-Length: -2"}, "{}"),
       "!content_length"},
      {"hexadecimal length", Head({kPost, kHost, kJson, "Content-Length: 0x2"}, "{}"),
       "!content_length"},
      {"empty length", Head({kPost, kHost, kJson, "Content-Length:"}, "{}"), "!content_length"},
      {"length that wraps 64 bits",
       Head({kPost, kHost, kJson, "Content-Length: 18446744073709551618"}, "{}"),
       "!body_too_large"},
      {"one byte over 7 MiB", Head({kPost, kHost, kJson, "Content-Length: 7340033"}, "{}"),
       "!body_too_large"},
      {"chunked", Head({kPost, kHost, kJson, "Transfer-Encoding: chunked"}, "2\r\n{}\r\n0\r\n\r\n"),
       "!transfer_encoding"},
      {"negative chunk size",
       Head({kPost, kHost, kJson, "Transfer-Encoding: chunked"}, "-2\r\n{}\r\n0\r\n\r\n"),
       "!transfer_encoding"},
      {"identity coding", Head({kPost, kHost, kJson, "Transfer-Encoding: identity"}, "{}"),
       "!transfer_encoding"},
      {"length and coding",
       Head({kPost, kHost, kJson, kTwo, "Transfer-Encoding: chunked"}, "0\r\n\r\n"),
       "!length_and_coding"},
      {"coding and length",
       Head({kPost, kHost, kJson, "transfer-encoding: xchunked", kTwo}, "0\r\n\r\n"),
       "!length_and_coding"},
      {"gzip body", Head({kPost, kHost, kJson, "Content-Encoding: gzip", kTwo}, "\x1f\x8b"),
       "!content_encoding"},
      {"brotli body", Head({kPost, kHost, kJson, "Content-Encoding: br", kTwo}, "{}"),
       "!content_encoding"},
      {"no content type", Head({kPost, kHost, kTwo}, "{}"), "!content_type"},
      {"two content types", Head({kPost, kHost, kJson, kJson, kTwo}, "{}"), "!content_type"},
      {"YAML", Head({kPost, kHost, "Content-Type: application/yaml", kTwo}, "{}"), "!content_type"},
      {"form", Head({kPost, kHost, "Content-Type: application/x-www-form-urlencoded", kTwo}, "{}"),
       "!content_type"},
      {"multipart with a boundary",
       Head({kPost, kHost, "Content-Type: multipart/form-data; boundary=x", kTwo}, "{}"),
       "!content_type"},
      {"JSON in another charset",
       Head({kPost, kHost, "Content-Type: application/json; charset=utf-16", kTwo}, "{}"),
       "!content_type"},
      {"type that begins like JSON",
       Head({kPost, kHost, "Content-Type: application/json-patch", kTwo}, "{}"), "!content_type"},
      {"unknown expectation", Head({kPost, kHost, kJson, kTwo, "Expect: 200-ok"}, "{}"),
       "!expectation"},
      {"probe with a body", Head({"GET /readyz HTTP/1.1", kHost, kTwo}, "{}"), "!unexpected_body",
       probe},
      {"chunked probe",
       Head({"GET /readyz HTTP/1.1", kHost, "Transfer-Encoding: chunked"}, "0\r\n\r\n"),
       "!transfer_encoding", probe},
  };
}

}  // namespace

const std::vector<RawRequest>& RawRequests() {
  static const std::vector<RawRequest> requests = MakeRawRequests();
  return requests;
}

}  // namespace mindgate::http::testing
