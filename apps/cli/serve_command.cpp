#include "serve_command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "gateway.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "http_server.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "serve_monitors.hpp"
#include "text_flags.hpp"

namespace harmonia {
namespace {

struct ServeCommand {
  bool gateway = false;
  std::string listen = "127.0.0.1:8077";
  std::string family = "appended", convention = "angle";
  std::vector<std::string> monitors;
  KeyFlags key{"--key", {}, {}}, own_key{"--gateway-key", {}, {}}, read_token{"--read-key", {}, {}};
  std::uint64_t budget_ms = 0;
  EmbedderFlags embedder;
  GatewayOptions options;

  void execute();

 private:
  void complete();
};

void ServeCommand::complete() {
  const ListenAddress address = read_listen_address(listen);
  options.host = address.host;
  options.port = address.port;
  options.budget = std::chrono::milliseconds(budget_ms);
  options.convention = convention_of(convention).value();
  const std::optional<PromptFamily> known = family_of(family);
  if (!known) {
    std::string names;
    for (const PromptFamilyInfo& info : prompt_families()) names += fmt::format(" {}", info.name);
    throw Error(ErrorCode::usage, fmt::format("--family {}; expected one of{}", in_quotes(family), names));
  }
  options.conversation.family = *known;
  options.endpoint.key = read_key(key);
  options.key = read_key(own_key);
  endpoint_base(options.endpoint);  // checks address and headers
  const bool has_secret = !options.endpoint.key.empty() || !options.endpoint.headers.empty();
  if (has_secret && options.key.empty() && !is_loopback(options.host)) {
    throw Error(ErrorCode::usage,
                fmt::format("--listen {} with --key or --header: whoever reaches it would use them; expected "
                            "--gateway-key-env or --gateway-key-file",
                            listen));
  }
}

void ServeCommand::execute() {
  if (gateway == !monitors.empty())
    throw Error(ErrorCode::usage, "serve needs to be told what; expected --gateway or --monitor FILE");
  if (gateway && options.endpoint.url.empty()) throw Error(ErrorCode::usage, "--chat is required");
  const std::stop_token stop = stop_on_interrupt();
  if (!monitors.empty()) return serve_monitors(monitors, listen, read_key(read_token), stop);
  complete();
  options.endpoint.stop = stop;
  const std::unique_ptr<Embedder> embeds = open_embedder(embedder, options.endpoint);
  const GatewayCounts counts = serve_gateway(options, *embeds, stop, [&](const std::string& address) {
    fmt::print("gateway to {} at {}; Ctrl-C ends it\n", options.endpoint.url, address);
    std::fflush(stdout);
  });
  fmt::print("{} passed on, {} chosen to be measured", counted(counts.passed, "call"), counts.sampled);
  if (counts.dropped > 0)
    fmt::print("; {} under way or waiting dropped", counted(counts.dropped, "measurement"));
  fmt::print("\n");
}

void add_gateway_options(CLI::App& app, ServeCommand& c) {
  GatewayOptions& o = c.options;
  const auto share = finite_number("a number from 0 to 1", [](double x) { return x >= 0 && x <= 1; });
  const auto above = finite_number("a number above 0", [](double x) { return x > 0; });
  app.add_option("--monitor", c.monitors,
                 "the live page of monitors, side by side: the files of their --state; may be repeated")
      ->type_name("FILE")
      ->group("Monitors");
  add_key_flags(app, c.read_token, "variable of the environment with the token that readers need [none]",
                "Monitors");
  app.add_flag("--gateway", c.gateway, "an OpenAI-compatible proxy that adds gamma to answers")
      ->group("Gateway");
  app.add_option("--listen", c.listen,
                 "where clients connect to; port 0 takes one that is free [127.0.0.1:8077]")
      ->type_name("HOST:PORT")
      ->group("Gateway");
  add_key_flags(
      app, c.own_key,
      "variable of the environment that holds the key clients have to send as a bearer token [none]",
      "Gateway");
  app.add_option("--pass-timeout", o.pass_seconds,
                 "seconds of silence after which a call that is passed on fails [600]")
      ->check(above)
      ->group("Gateway");
  app.add_option("--chat", o.endpoint.url, "base address of the upstream, such as http://127.0.0.1:8080/v1")
      ->type_name("URL")
      ->group("Upstream");
  add_key_flags(app, c.key,
                "variable of the environment that holds the upstream's key [that of the client is passed on]",
                "Upstream");
  add_header_flags(app, o.endpoint, "Upstream");
  app.add_option("--sample", o.sample, "share of chat calls that is measured [0.1]")
      ->check(share)
      ->group("Measuring");
  app.add_option("--budget-ms", c.budget_ms,
                 "milliseconds that an answer may wait for its gamma; 0: it goes out at once [0]")
      ->check(CLI::Range(0, 3600000))
      ->group("Measuring");
  app.add_option("--variants", o.conversation.variants, "of the user's last message [10]")
      ->check(CLI::Range(2, 1000))
      ->group("Measuring");
  app.add_option("--repeats", o.conversation.repeats,
                 "further answers to the unchanged conversation, for the noise floor [0]")
      ->check(CLI::Range(0, 1000))
      ->group("Measuring");
  app.add_option("--family", c.family,
                 "how messages are varied: appended, inserted, invisible, whitespace, … [appended]")
      ->group("Measuring");
  app.add_option("--max-tokens", o.conversation.most_tokens,
                 "most tokens of a variant's answer; 0: what the client asked for [1024]")
      ->check(CLI::Range(0, 1000000))
      ->group("Measuring");
  app.add_option("--convention", c.convention, "of gamma: angle, chord, sin or paper [angle]")
      ->check(CLI::IsMember({"angle", "chord", "sin", "paper"}))
      ->group("Measuring");
  app.add_option("--confidence", o.conversation.confidence, "of the interval [0.95]")->group("Measuring");
  app.add_option("--in-flight", o.endpoint.in_flight, "calls at the same time for one measurement [4]")
      ->check(CLI::Range(1, 1024))
      ->group("Measuring");
  app.add_option("--measuring-threads", o.queue.threads, "measurements at the same time [2]")
      ->check(CLI::Range(1, 256))
      ->group("Measuring");
  app.add_option("--max-pending", o.queue.most_pending,
                 "measurements that may wait; further ones are left out [100]")
      ->check(CLI::Range(1, 1000000))
      ->group("Measuring");
  app.add_option("--keep", o.queue.kept, "results that are kept, the last ones [10000]")
      ->check(CLI::Range(1, 100000000))
      ->group("Measuring");
  app.add_option("--timeout", o.endpoint.timeout_seconds, "seconds to wait for the answer to a variant [120]")
      ->check(above)
      ->group("Measuring");
  app.add_option("--retries", o.endpoint.retries,
                 "further tries of a variant after 429, 5xx or a lost connection [1]")
      ->check(CLI::Range(0, 100))
      ->group("Measuring");
  app.add_option("--seed", o.conversation.seed, "of the draws: which calls, which variants [1]")
      ->group("Measuring");
  add_embedder_flags(app, c.embedder);
}

constexpr const char* kExamples =
    R"(The page of several monitors, which run elsewhere on this machine:
  harmonia serve --monitor fraud.db --monitor churn.db --listen 127.0.0.1:8077

A gateway: clients change their base URL and nothing else:
  harmonia serve --gateway --chat http://127.0.0.1:8080/v1 --sample 0.1
  OPENAI_BASE_URL=http://127.0.0.1:8077/v1 python my_app.py

An answer waits at most 3 s for its gamma, for all calls of a test:
  harmonia serve --gateway --chat http://127.0.0.1:8080/v1 --sample 1 --budget-ms 3000

Before a commercial endpoint, with keys of its own for both sides:
  harmonia serve --gateway --chat https://api.example.com/v1 --key-env UPSTREAM_KEY \
    --gateway-key-file gateway.key --listen 0.0.0.0:8077

A sampled answer has the member "harmonia" and the header X-Harmonia-Id; those that come as a stream have
the header alone. What is pending is fetched later, by that id or by the answer's own:
  curl http://127.0.0.1:8077/v1/gamma/ID     (202: pending, 200: measured or failed, 404: not known)
The header X-Harmonia: measure or X-Harmonia: skip of a call overrides --sample. A measurement makes
--variants (and --repeats) further calls of the upstream, at the caller's or the upstream's key.)";

}  // namespace

void add_serve_command(CLI::App& program) {
  auto command = std::make_shared<ServeCommand>();
  command->options.endpoint.in_flight = 4;
  command->options.endpoint.retries = 1;
  CLI::App* const app = program.add_subcommand(
      "serve",
      "Serves: the live page of monitors, or a gateway that adds gamma to a chat endpoint's answers");
  add_gateway_options(*app, *command);
  app->footer(kExamples);
  app->callback([command] { command->execute(); });
}

}  // namespace harmonia
