#!/bin/sh
# flux: --job-name=gpt_175b
# flux: --nslots=18
# flux: --nodes=18
# flux: --queue=gpu
# flux: --time-limit=43200s
# flux: --gpus-per-slot=8

# gpt: 16 hosts × 8 devices, 2 spares
cd '/home/ann/my jobs' || exit 3
exec /opt/muster/bin/muster run gpt.lua lr=0.1 'note=it'\''s' --spares 2 --on slurm
