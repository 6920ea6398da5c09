#!/bin/sh
#BSUB -J gpt_175b
#BSUB -rn
#BSUB -n 18
#BSUB -R "span[ptile=1]"
#BSUB -wt 2
#BSUB -wa TERM
#BSUB -q gpu
#BSUB -W 1:30
#BSUB -gpu "num=8:mode=shared"
#BSUB -R "select[mem>256GB && type==any]"
#BSUB -x

# gpt: 16 hosts × 8 devices, 2 spares
cd '/home/ann/my jobs' || exit 3
exec /opt/muster/bin/muster run gpt.lua lr=0.1 'note=it'\''s' --spares 2 --on slurm
