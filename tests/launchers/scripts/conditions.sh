#!/bin/bash
#: call train 2
MODE=$1
if [[ "$MODE" == "train" && $2 -gt 1 ]]; then
  FLAGS="--train --distributed"
elif [[ $MODE == t* ]]; then
  FLAGS="--train"
else
  FLAGS=
fi
[ "x$MODE" = "xtrain" ] && EXTRA=on || EXTRA=off
export RANK_SIZE=$2
for ((i=0;i<$2;i++)); do
  export RANK_ID=$i
  python train.py $FLAGS --extra $EXTRA &
done
