// A server's certificate is verified, always.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "../../src/model/child_process.hpp"
#include "harmonia/model/http_model.hpp"
#include "harmonia/text/endpoint.hpp"
#include "support/model_checks.hpp"
#include "support/temporary_folder.hpp"

namespace harmonia {
namespace {

constexpr std::array kExample{3.0, 2.0};

constexpr const char* kServer = R"(import http.server, json, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer({'inputs': []})
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        if 'messages' in asked:
            self.answer({'choices': [{'message': {'content': 'yes'}}]})
            return
        x = asked['inputs'][0]['data']
        self.answer({'outputs': [{'name': 'y', 'datatype': 'FP64', 'shape': [1], 'data': [x[0] - x[1]]}]})
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
)";

// Ended with the test.
class TlsServer : public testing::Test {
 protected:
  void SetUp() override {
    const std::string make =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=stand-in -addext subjectAltName=IP:127.0.0.1 -keyout " +
        key_ + " -out " + certificate_ + " 2> /dev/null";
    ASSERT_EQ(std::system(make.c_str()), 0) << "openssl makes no certificate";
    const std::string script = folder_.write("server.py", kServer);
    server_ = std::make_unique<ChildProcess>("python3 " + script + " " + certificate_ + " " + key_);
    while (server_->output().find('\n') == std::string::npos) {
      ASSERT_TRUE(server_->output_open()) << server_->last_error_line();
      server_->wait(false, std::chrono::milliseconds(100));
    }
    port_ = std::stoi(server_->output());
  }
  std::string url(const std::string& host, const std::string& path = "/v2/models/m") const {
    return "https://" + host + ":" + std::to_string(port_) + path;
  }

  test::TemporaryFolder folder_;
  std::string key_ = folder_.path("key.pem"), certificate_ = folder_.path("certificate.pem");
  std::unique_ptr<ChildProcess> server_;
  int port_ = 0;
};

TEST_F(TlsServer, IsTrustedByItsAuthority) {
  ModelOptions options;
  options.ca_file = certificate_;
  const auto model = open_http_model(url("127.0.0.1"), options, kExample);
  Matrix<double> x(1, 2);
  x.row(0)[0] = 7;
  EXPECT_EQ(test::evaluate(*model, x).row(0)[0], 7);
}

TEST_F(TlsServer, IsRefusedWithoutIt) {
  const std::string message =
      test::message_of(ErrorCode::model, [&] { open_http_model(url("127.0.0.1"), {}, kExample); });
  EXPECT_TRUE(test::says(message, "model https://127.0.0.1:", "certificate"));
  EXPECT_FALSE(test::says(message, "tries"));  // it would be the same the next time
}

TEST_F(TlsServer, IsRefusedUnderAnotherName) {
  ModelOptions options;
  options.ca_file = certificate_;
  const std::string message =
      test::message_of(ErrorCode::model, [&] { open_http_model(url("localhost"), options, kExample); });
  EXPECT_TRUE(test::says(message, "localhost"));
}

TEST_F(TlsServer, DiesAndWeDoNot) {
  ModelOptions options;
  options.ca_file = certificate_;
  options.retries = 1;
  const auto model = open_http_model(url("127.0.0.1"), options, kExample);
  server_->end(std::chrono::milliseconds(0));
  EXPECT_TRUE(test::says(
      test::message_of(ErrorCode::model, [&] { test::evaluate(*model, test::awkward_rows(20000, 2)); }),
      "connection refused after 2 tries"));
}

TEST_F(TlsServer, NeedsAnAuthorityThatCanBeRead) {
  ModelOptions options;
  options.ca_file = folder_.path("missing.pem");
  EXPECT_TRUE(test::says(
      test::message_of(ErrorCode::model, [&] { open_http_model(url("127.0.0.1"), options, kExample); }),
      "missing.pem"));
}

TEST_F(TlsServer, IsAskedForChatByTheSameRules) {
  EndpointOptions options;
  options.retries = 1;
  options.url = url("127.0.0.1", "/v1");
  ChatBudget budget;
  const std::vector<ChatQuestion> questions(20);
  std::size_t right = 0;
  const auto ask = [&] {
    open_chat_endpoint(options, {}, budget)->ask(questions, [&](std::size_t, const ChatAnswer& answer) {
      right += answer.text == "yes" ? 1 : 0;
    });
  };
  EXPECT_TRUE(test::says(test::message_of(ErrorCode::model, ask), "endpoint " + options.url, "certificate"));
  options.ca_file = certificate_;
  ask();
  EXPECT_EQ(right, questions.size());
  options.url = url("localhost", "/v1");
  EXPECT_TRUE(test::says(test::message_of(ErrorCode::model, ask), "localhost"));
  EXPECT_EQ(right, questions.size());
}

}  // namespace
}  // namespace harmonia
