#!/bin/bash
#: call 3 --lr 0.1 --note 'two words'
N=$1
shift
export RANK_SIZE=$N
for ((i=0;i<N;i++)); do
  RANK_ID=$i python train.py "$@" --rank $i &
done
