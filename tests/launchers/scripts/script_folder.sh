#!/bin/bash
#: call 2
BASE=$(cd "`dirname $0`" || exit; pwd)
export PYTHONPATH=${BASE}:$PYTHONPATH
mkdir -p out
for ((i=0;i<$1;i++)); do
  export RANK_ID=$i RANK_SIZE=$1
  python ${BASE}/../train.py --conf $BASE/../default_config.yaml > out/$i.log 2>&1 &
done
