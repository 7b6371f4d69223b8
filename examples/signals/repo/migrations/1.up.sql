create table entries (id integer primary key, cents integer not null);
