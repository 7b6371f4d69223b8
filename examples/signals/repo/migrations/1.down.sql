drop table entries;
