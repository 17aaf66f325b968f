-- migrations: transaction=none
VACUUM;
