#include "monitor_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "harmonia/core/atomic_file.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/logit_model.hpp"
#include "harmonia/monitor/alert_sink.hpp"
#include "harmonia/monitor/monitor.hpp"
#include "harmonia/monitor/pushed_rows.hpp"
#include "harmonia/report/baseline_file.hpp"
#include "harmonia/report/map_report.hpp"
#include "harmonia/report/merge_report.hpp"
#include "harmonia/report/monitor_map.hpp"
#include "harmonia/report/monitor_report.hpp"
#include "interrupt.hpp"
#include "key_flags.hpp"
#include "monitor_server.hpp"
#include "monitor_source.hpp"
#include "options.hpp"
#include "serve_monitors.hpp"
#include "watch_loop.hpp"

namespace harmonia {
namespace {

using AlertSinks = std::vector<std::unique_ptr<AlertSink>>;

struct MonitorCommand {
  std::string model, baseline_file, map_file, state = "monitor.db";
  SourceFlags source;
  std::string alerts_file, webhook, alerts_topic, listen, json;
  std::vector<std::string> webhook_headers, merged;
  KeyFlags read_key_flags{.option = "--read-key", .variable = {}, .file = {}};
  KeyFlags ingest_key_flags{.option = "--ingest-key", .variable = {}, .file = {}};
  bool quiet = false;
  double webhook_timeout = WebhookOptions{}.timeout_seconds;
  std::size_t threads = 0;
  ModelOptions model_options;
  MonitorOptions options;

  void execute();

 private:
  void check() const;
  void merge() const;
  std::unique_ptr<Model> open(const SavedBaseline& base) const;
  std::string read_asked_map(const SavedBaseline& base, const ModelInfo& opened);
  std::unique_ptr<MonitorServer> serve(const Baseline& baseline, const Monitor& monitor, RowStream& stream,
                                       const AlertSinks& sinks, Sidecar* sidecar) const;
  AlertSinks open_sinks() const;
};

// Lines of different threads stay whole.
void say(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::fputs(fmt::format("harmonia: {}\n", printable(line, std::string::npos)).c_str(), stderr);
}

void MonitorCommand::check() const {
  if (source.is_pushed() && listen.empty())
    throw Error(ErrorCode::usage, "--source http takes rows over HTTP; expected --listen HOST:PORT with it");
  if (source.is_sidecar() && listen.empty())
    throw Error(ErrorCode::usage,
                "--source sidecar takes inference requests over HTTP; expected --listen HOST:PORT with it");
  if (alerts_file == "-" && !quiet)
    throw Error(ErrorCode::usage,
                "--alerts - writes JSON lines to standard output; expected --quiet with it");
  if ((source.is_kafka() || !alerts_topic.empty()) && !has_kafka())
    throw Error(ErrorCode::usage,
                "this build has no Kafka: librdkafka was not found when it was made; expected another "
                "source, or a build with librdkafka-dev");
  check_files({state, alerts_file}, {baseline_file, map_file, model, source.source});
}

std::unique_ptr<Model> MonitorCommand::open(const SavedBaseline& base) const {
  ModelOptions how = model_options;
  how.margin = base.margin;
  how.output_name = base.model_output;
  how.binary = base.binary;
  how.takes_missing = how.takes_missing || base.takes_missing;
  const Baseline& baseline = base.baseline;
  std::unique_ptr<Model> opened = open_model(model, how, baseline.rows.front().values);
  if (opened->info().inputs != baseline.features.size()) {
    throw Error(ErrorCode::input, fmt::format("{} has {} features; model {} expects {}", baseline_file,
                                              baseline.features.size(), model, opened->info().inputs));
  }
  if (!opened->info().warning.empty()) say("warning: " + opened->info().warning);
  if (const std::optional<std::string> other = other_model(base, opened->info())) say("warning: " + *other);
  return opened;
}

// Takes the map into the options; what of its file the state keeps. Nothing without one.
std::string MonitorCommand::read_asked_map(const SavedBaseline& base, const ModelInfo& opened) {
  if (map_file.empty()) return {};
  const ResultFile file = read_result_file(map_file);
  const SavedMap map = read_map(file);
  options.map = monitor_map(map, map_file, base, baseline_file);
  if (const std::optional<std::string> other = other_model(map, opened)) say("warning: " + *other);
  return map_without_rows(file);
}

std::unique_ptr<MonitorServer> MonitorCommand::serve(const Baseline& baseline, const Monitor& monitor,
                                                     RowStream& stream, const AlertSinks& sinks,
                                                     Sidecar* sidecar) const {
  if (listen.empty()) return nullptr;
  const ListenAddress address = read_listen_address(listen);
  MonitorServerOptions how;
  how.host = address.host;
  how.port = address.port;
  how.read_key = read_key(read_key_flags);
  how.ingest_key = read_key(ingest_key_flags);
  how.log = say;
  how.id = source.id;
  how.not_ready = [&monitor] { return monitor.status().unsaved; };
  how.sinks = [&sinks] {
    std::vector<SinkStatus> all;
    for (const std::unique_ptr<AlertSink>& sink : sinks) all.push_back(sink->status());
    return all;
  };
  how.sidecar = sidecar;
  PushRows push;
  if (auto* const pushed = dynamic_cast<PushedRows*>(&stream); pushed != nullptr && sidecar == nullptr)
    push = [pushed](StreamBatch batch, std::chrono::milliseconds wait) {
      return pushed->push(std::move(batch), wait);
    };
  auto server = std::make_unique<MonitorServer>(
      how,
      std::vector<ServedModel>{{.name = model,
                                .baseline = &baseline,
                                .options = options,
                                .status = [&monitor] { return monitor.status(); }}},
      std::move(push));
  const std::string line = fmt::format("the page is at {}; Ctrl-C ends it", server->address());
  if (quiet) {
    say(line);
  } else {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
  return server;
}

AlertSinks MonitorCommand::open_sinks() const {
  AlertSinkOptions how;
  how.note = say;
  AlertSinks sinks;
  if (!alerts_file.empty()) sinks.push_back(open_line_sink(alerts_file, how));
  if (!webhook.empty()) {
    WebhookOptions post;
    post.headers = webhook_headers;
    post.timeout_seconds = webhook_timeout;
    sinks.push_back(open_webhook(webhook, post, how));
  }
  if (!alerts_topic.empty())
    sinks.push_back(open_kafka_sink(read_topic(alerts_topic, source.kafka_settings), how));
  return sinks;
}

std::string state_word(const Alert& alert) {
  return alert.ended ? "ended" : alert.complete ? "has its rows" : "ALERT";
}

void print_alert(const Alert& alert) {
  fmt::print("alert {} {}: {}\n", alert.id, state_word(alert), alert.text);
  std::fflush(stdout);
}

// As it is stored, and of which model it is.
std::string sent_alert(const std::string& model, const Alert& alert, const Baseline& baseline) {
  nlohmann::json json = nlohmann::json::parse(alert_text(alert, baseline));
  json["model"] = repair_utf8(model);
  return json.dump();
}

void print_status(const MonitorStatus& status) {
  fmt::print("{} came, {} measured, {} left out by sampling, {} not measurable, {} refused; {}\n",
             counted(status.rows, "row"), status.measured, status.left_out, status.without_value,
             status.refused, counted(status.alerts.size(), "alert"));
  if (!status.last_refused.empty())
    fmt::print("the last that was refused or not measurable: {}\n", status.last_refused);
}

// kept: rows that were, of those that the side-car brought.
void print_inference(const InferenceCounts& counts, std::uint64_t kept) {
  fmt::print(
      "{} passed on: the rows of {} could not be read; {} left out because too many waited, {} when it "
      "ended\n",
      counted(counts.requests, "inference request"), counts.unread, counted(counts.dropped_rows, "row"),
      counts.rows - std::min(kept, counts.rows));
  if (!counts.last_unread.empty())
    fmt::print("the last that could not be read: {}\n", printable(counts.last_unread, std::string::npos));
}

// Lets the server end, however slowly a model server answers.
struct EndOfPassing {
  Sidecar* sidecar;

  explicit EndOfPassing(Sidecar* passing) : sidecar(passing) {}
  ~EndOfPassing() {
    if (sidecar != nullptr) sidecar->stop();
  }
  EndOfPassing(const EndOfPassing&) = delete;
  EndOfPassing& operator=(const EndOfPassing&) = delete;
};

// Tells those who wait for their rows to be kept that they are not.
struct EndOfRows {
  PushedRows* rows;
  explicit EndOfRows(PushedRows* pushed) : rows(pushed) {}
  ~EndOfRows() {
    if (rows != nullptr) rows->end();
  }
  EndOfRows(const EndOfRows&) = delete;
  EndOfRows& operator=(const EndOfRows&) = delete;
};

void MonitorCommand::execute() {
  if (!merged.empty()) return merge();
  if (model.empty() || baseline_file.empty())
    throw Error(ErrorCode::usage, "expected MODEL and --baseline FILE, or --merge FILE...");
  check();
  const std::stop_token stop = stop_on_interrupt();
  const ResultFile file = read_result_file(baseline_file);
  const SavedBaseline base = read_baseline(file);
  ModelOptions& how = model_options;
  how.stop = stop;
  const std::unique_ptr<Model> opened = open(base);
  const std::string map = read_asked_map(base, opened->info());
  const std::unique_ptr<Model> logits = base.log_probabilities ? make_logit_model(*opened, true) : nullptr;
  Run run;
  run.seed = base.baseline.seed;
  run.threads = threads;
  run.stop = stop;
  options.detectors.seed = options.seed;
  options.about = monitor_about(model, file.text, map, options.detectors.false_alarms);
  Monitor monitor(logits ? *logits : *opened, base.baseline, options, state, run);
  const std::uint64_t kept_before = monitor.status().rows;
  const std::unique_ptr<RowStream> stream = open_source(source, base.baseline, monitor, options.window, say);
  const AlertSinks sinks = open_sinks();
  const std::unique_ptr<Sidecar> sidecar =
      open_sidecar(source, model, model_options, base.baseline, *stream, say);
  const std::unique_ptr<MonitorServer> server = serve(base.baseline, monitor, *stream, sinks, sidecar.get());
  const EndOfPassing passing{sidecar.get()};
  WatchListener listener;
  listener.note = say;
  listener.alert = [&](const Alert& alert) {
    if (!quiet) print_alert(alert);
    const std::string text = sent_alert(model, alert, base.baseline);
    for (const std::unique_ptr<AlertSink>& sink : sinks) sink->send(text);
  };
  const EndOfRows end{dynamic_cast<PushedRows*>(stream.get())};
  watch(monitor, *stream, listener, stop);
  if (quiet) return;
  print_status(monitor.status());
  if (sidecar) print_inference(sidecar->counts(), monitor.status().rows - kept_before);
}

void MonitorCommand::merge() const {
  MergedMonitors result;
  std::optional<SavedBaseline> base;
  std::vector<Window> windows;
  std::string identity;
  for (const std::string& file : merged) {
    StoredMonitor stored(file);
    if (!base) {
      MonitorSubject subject = stored_subject(stored, file);
      result.model = std::move(subject.model);
      base = std::move(subject.baseline);
    }
    stored.check(base->baseline);
    if (identity.empty()) identity = stored.identity();
    if (stored.identity() != identity)
      throw Error(ErrorCode::usage,
                  fmt::format("{} has other windows, another seed or another map than {}; expected the same",
                              file, merged.front()));
    for (Window& window : stored.windows(base->baseline)) {
      if (window.partition == StreamBatch{}.partition && merged.size() > 1)
        throw Error(
            ErrorCode::usage,
            fmt::format("{} has rows of standard input or HTTP, which every monitor numbers for itself; "
                        "expected files and topics alone",
                        file));
      windows.push_back(std::move(window));
    }
  }
  result.files = merged;
  result.windows = merge_windows(std::move(windows));
  if (!json.empty()) {
    AtomicFile file(json);
    file.write(merged_json(result, base->baseline));
    file.commit();
  }
  if (!quiet) fmt::print("{}", merged_table(result, base->baseline));
}

constexpr const char* kExamples = R"(Examples:
  harmonia baseline fraud.onnx train.csv --radius auto --scale std -o base.json
  harmonia monitor fraud.onnx --baseline base.json --source live.csv --listen 127.0.0.1:8078
  tail -f rows.jsonl | harmonia monitor fraud.onnx --baseline base.json --alerts alerts.jsonl
  harmonia monitor fraud.onnx --baseline base.json --source http --listen 0.0.0.0:8078 --ingest-key-file key
  curl -H "Authorization: Bearer KEY" -H "X-Harmonia-Batch: 17" -H "Content-Type: text/csv" \
    --data-binary @rows.csv http://HOST:8078/v1/rows
  harmonia monitor fraud.onnx --baseline base.json --source kafka:localhost:9092/rows --state a.db
  harmonia monitor --merge a.db b.db --json all.json
  harmonia monitor http://127.0.0.1:8000/v2/models/fraud --baseline base.json --source sidecar \
    --listen 127.0.0.1:8078 --calls-per-second 200
  harmonia monitor fraud.onnx --baseline base.json --source sidecar:http://127.0.0.1:8000/v2/models/fraud \
    --listen 0.0.0.0:8078 --read-key-file key

Side-car: clients of a model server that speaks the Open Inference Protocol v2 are pointed to --listen instead.
GET /v2, /v2/health/*, /v2/models/NAME[/versions/V][/ready] and POST …/infer are passed on, with the clients' own
credentials, and answered as the server answers; without an answer within --timeout they get 504, without a
connection 502. Rows of inference that was answered with success are measured afterwards, and left out when too many
wait; the counts say how many. They are read of requests for NAME with one input of numbers, [rows, …], its values in
the order of the baseline's features. Gamma takes many evaluations a row: they go to MODEL itself. A MODEL that is a
server shares its capacity with the clients (--share and --calls-per-second bound that); a file of the same
model does not. --header is sent with these evaluations alone. Everybody who reaches --listen may ask for inference.

How stable rows are, by a Gamma Map (harmonia map --help):
  harmonia map fraud.onnx train.csv --radius auto --scale std --json map.json
  harmonia baseline fraud.onnx rows.csv --map map.json -o base.json
  harmonia monitor fraud.onnx --baseline base.json --map map.json --source live.csv --listen 127.0.0.1:8078

False alarms: if the rows that come are exchangeable with those of the baseline, the probability that an alert is
ever raised is at most --false-alarms, over all detectors and regions together; after an alert has ended, the test
begins again with the full rate. Rows that depend on each other in time, or a baseline that is not like the stream,
are no false alarms by this promise.

The state file keeps what was counted: started again with it, the monitor goes on where it was. A file is
read on from there; of standard input, what was read and not kept when a process was killed is lost.)";

}  // namespace

void add_monitor_command(CLI::App& program) {
  const auto c = std::make_shared<MonitorCommand>();
  CLI::App& app = *program.add_subcommand("monitor", "Watches gamma on a stream of rows against a baseline");
  const auto share =
      finite_number("a number above 0 and at most 1", [](double x) { return x > 0 && x <= 1; });
  const auto rate = finite_number("a number above 0 and below 1", [](double x) { return x > 0 && x < 1; });
  const auto above = finite_number("a number above 0", [](double x) { return x > 0; });
  app.add_option("MODEL", c->model, "as for harmonia gamma; the one the baseline is of");
  app.add_option("--baseline", c->baseline_file, "file that harmonia baseline wrote")->type_name("FILE");
  app.add_option(
         "--map", c->map_file,
         "result of harmonia map, which is asked how stable every measured row is, at no further call "
         "of the model; needs a baseline made with the same --map")
      ->type_name("FILE");
  add_source_flags(app, c->source);
  app.add_option("--state", c->state, "SQLite file of what was counted [monitor.db]")
      ->type_name("FILE")
      ->group("State");
  app.add_option("--window", c->options.window, "rows of a window [1000]")
      ->check(CLI::Range(10, 100000000))
      ->group("State");
  app.add_option("--merge", c->merged, "sum up the files of several monitors of one stream, each row once")
      ->type_name("FILE...")
      ->group("State");
  app.add_option("--json", c->json, "with --merge: write the sums and windows as JSON")
      ->type_name("FILE")
      ->group("State")
      ->needs("--merge");
  app.add_option("--false-alarms", c->options.detectors.false_alarms,
                 "probability that a stream without drift ever raises an alert, at most [0.01]")
      ->check(rate)
      ->group("Alerts");
  app.add_option("--quiet-rows", c->options.quiet_rows,
                 "measured rows that have to be as in the baseline for an alert to end [500]")
      ->check(CLI::Range(50, 5000))
      ->group("Alerts");
  app.add_option("--alerts", c->alerts_file, "append alerts as JSON lines to FILE; - is standard output")
      ->type_name("FILE")
      ->group("Alerts");
  app.add_option("--webhook", c->webhook, "post alerts as JSON to this address")
      ->type_name("URL")
      ->group("Alerts");
  app.add_option("--webhook-header", c->webhook_headers, "'Name: value' sent along; may be repeated")
      ->allow_extra_args(false)
      ->group("Alerts");
  app.add_option("--webhook-timeout", c->webhook_timeout, "seconds to wait for its answer [10]")
      ->type_name("SECONDS")
      ->check(above)
      ->group("Alerts");
  app.add_option("--alerts-topic", c->alerts_topic, "send alerts to a topic of Kafka")
      ->type_name("kafka:HOST:PORT/TOPIC")
      ->group("Alerts");
  app.add_option("--share", c->options.share, "of the rows that is measured, drawn at random [1]")
      ->check(share)
      ->group("Run");
  app.add_option("--calls-per-second", c->options.calls_per_second,
                 "of the model, at most; beyond it, rows are sampled, and how many is said [no limit]")
      ->check(above)
      ->group("Run");
  app.add_option("--threads", c->threads, "model calls at the same time [one per core]")
      ->check(CLI::Range(1, 4096))
      ->group("Run");
  app.add_option("--seed", c->options.seed, "of sampling and ties [1]")->group("Run");
  app.add_flag("--quiet", c->quiet, "no alerts and no summary on standard output")->group("Run");
  app.add_option("--listen", c->listen,
                 "serve the page, its API and metrics here; port 0 takes one that is free")
      ->type_name("HOST:PORT")
      ->group("Server");
  add_key_flags(app, c->read_key_flags, "variable of the environment with the token that readers need [none]",
                "Server");
  add_key_flags(app, c->ingest_key_flags,
                "variable with the key that senders of rows need; without one, only this machine may send",
                "Server");
  add_reaching_options(app, c->model_options);
  app.footer(kExamples);
  app.callback([c] { c->execute(); });
}

}  // namespace harmonia
