-- The same names as the load driver's: 36 characters, scattered over the whole zone.
CREATE FUNCTION scattered_name(number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT lpad(to_hex((number * 2654435761) & 4294967295), 8, '0') || '-0000-4000-8000-' || lpad(to_hex(number), 12, '0')
$$;
