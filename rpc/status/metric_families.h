// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_METRIC_FAMILIES_H_
#define FARCALL_RPC_STATUS_METRIC_FAMILIES_H_

#include <string>
#include <utility>
#include <vector>

#include "prometheus/metric_family.h"

namespace farcall {

// Families as they are built one after the other: the library's own registry wants metrics that
// live and count, and ours are counted elsewhere.
class MetricFamilies {
 public:
  using Labels = std::vector<prometheus::ClientMetric::Label>;

  // Begins a family; what is added next belongs to it.
  void Counter(std::string name, std::string help) {
    Begin(std::move(name), std::move(help), prometheus::MetricType::Counter);
  }
  void Gauge(std::string name, std::string help) {
    Begin(std::move(name), std::move(help), prometheus::MetricType::Gauge);
  }
  void Histogram(std::string name, std::string help) {
    Begin(std::move(name), std::move(help), prometheus::MetricType::Histogram);
  }

  // Once for each set of labels.
  void Add(double value, Labels labels = {}) {
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    // A family is of one type; the other value is not looked at.
    metric.counter.value = value;
    metric.gauge.value = value;
    families_.back().metric.push_back(std::move(metric));
  }
  void Add(prometheus::ClientMetric::Histogram histogram, Labels labels) {
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    metric.histogram = std::move(histogram);
    families_.back().metric.push_back(std::move(metric));
  }
  // A family of one metric.
  template <typename Number>
  void OneCounter(std::string name, std::string help, Number value) {
    Counter(std::move(name), std::move(help));
    Add(static_cast<double>(value));
  }
  template <typename Number>
  void OneGauge(std::string name, std::string help, Number value) {
    Gauge(std::move(name), std::move(help));
    Add(static_cast<double>(value));
  }

  // Without those that stayed empty.
  std::vector<prometheus::MetricFamily> Take() {
    std::erase_if(families_, [](const auto& family) { return family.metric.empty(); });
    return std::move(families_);
  }

 private:
  void Begin(std::string name, std::string help, prometheus::MetricType type) {
    families_.push_back({std::move(name), std::move(help), type, {}});
  }

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_METRIC_FAMILIES_H_
