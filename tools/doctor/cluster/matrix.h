// SPDX-License-Identifier: Apache-2.0
//
// The numbers of one kind of all paths, side by side.

#ifndef FARCALL_TOOLS_DOCTOR_CLUSTER_MATRIX_H_
#define FARCALL_TOOLS_DOCTOR_CLUSTER_MATRIX_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/cluster/cluster.h"
#include "tools/doctor/cluster/outliers.h"

namespace farcall::doctor {

struct Cell {
  std::optional<double> value;
  bool outlier = false;
};

struct Matrix {
  std::string what;                      // "farcall over rdma", "farcall over rdma, mlx5_1"
  Better better = Better::kLess;         // kLess: microseconds, the median; kMore: bytes a second
  double expected = 0;                   // outliers.h
  std::vector<std::vector<Cell>> cells;  // from node, to node
};

// Latency and bandwidth of each way in turn; those without any number are not there.
std::vector<Matrix> MatricesOf(const Cluster& cluster);

// Nodes of which more than half of the paths, those to it and those from it, are outliers or have
// no number, where others have one: rather they than each of their paths are amiss.
std::vector<size_t> NodesAmiss(const Matrix& matrix, const Cluster& cluster);

// Why paths have no number: a text, and who has it.
struct Trouble {
  std::string text;  // "farcall over rdma: memlock: ..."
  std::vector<Path> paths;
};
std::vector<Trouble> TroublesOf(const Cluster& cluster);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CLUSTER_MATRIX_H_
