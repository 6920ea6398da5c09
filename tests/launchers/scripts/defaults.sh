#!/bin/bash
#: call
BATCH=${1:-32}
CONF=${2:-conf/base.yaml}
NAME=${CONF##*/}
NAME=${NAME%.yaml}
export RANK_SIZE=${WORLD:-2}
for i in 0 1; do
  export RANK_ID=$i
  python train.py --batch $BATCH --name $NAME --upper ${NAME^^} &
done
