-- Values of random parameters, as our server sends them: a string in an index is its bytes.
CREATE FUNCTION author(number bigint) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT convert_to('author ' || number, 'UTF8')
$$;
