#!/bin/bash
#: call 2
set_device() {
  local base=$1
  export DEVICE_ID=$((base + $2))
  export RANK_ID=$2
}
start() {
  set_device 0 $1
  shift
  python train.py "$@" > rank$RANK_ID.log 2>&1 &
}
export RANK_SIZE=$1
for i in $(seq 0 $(expr $1 - 1)); do
  start $i --name "a b" --rank=$i
done
wait
