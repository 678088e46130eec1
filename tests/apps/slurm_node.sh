#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# slurm_node.sh COMMAND...: runs a command, as root, on this machine as a cluster of one node. Needs what
# `cmake/install-packages.sh slurm` installs, none of whose services may run; starts their daemons on a temporary
# folder and ends them. To try docs/clusters.md in Slurm itself:
#
#   tests/apps/slurm_node.sh python3 -B tests/apps/parts_test.py PROGRAM . Page
#   tests/apps/slurm_node.sh ctest --test-dir build/test -R 'mpi.slurm'    # the scripts of hesscope-mpi
set -euo pipefail

folder=$(mktemp -d /tmp/hesscope-slurm-XXXXXX)
chmod 755 "$folder"
daemons=()
finish() {
  (( ${#daemons[@]} == 0 )) || kill "${daemons[@]}" || true
  wait
  rm -rf "$folder"
}
trap finish EXIT

head -c 1024 /dev/urandom > "$folder/key"
chmod 400 "$folder/key"
munged --foreground --force --key-file "$folder/key" --socket "$folder/socket" \
  --pid-file "$folder/munged.pid" --seed-file "$folder/seed" --log-file "$folder/munged.log" \
  > "$folder/munged.out" 2>&1 &
daemons+=($!)

node=$(hostname -s)
cpus=$(nproc)
(( cpus >= 4 )) || cpus=4 # what a job of four tasks asks for, on whatever machine
cat > "$folder/slurm.conf" << END
ClusterName=one
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmctldPort=26817
SlurmdPort=26818
AuthInfo=socket=$folder/socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MinJobAge=300
NodeName=$node NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=$node Default=YES State=UP
END
mkdir "$folder/state" "$folder/spool"
export SLURM_CONF="$folder/slurm.conf"
for (( tries = 0; tries < 50; ++tries )); do
  [[ ! -S $folder/socket ]] || break
  sleep 0.1
done
for daemon in slurmctld slurmd; do
  "$daemon" -D > "$folder/$daemon.log" 2>&1 &
  daemons+=($!)
done
for (( tries = 0; tries < 50; ++tries )); do
  [[ $(sinfo --noheader --format=%T 2> /dev/null) != idle ]] || break
  sleep 0.2
done
if [[ $(sinfo --noheader --format=%T) != idle ]]; then
  tail "$folder"/*.log "$folder"/*.out >&2
  exit 1
fi
"$@"
