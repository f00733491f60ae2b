-- Over the events of `generate-events`: `jird bench --cases bench/cases/events.sql examples/events.ndjson`

-- filter
select Message where Elapsed > 200

-- match
select Message where match(Message, '/api/customers')

-- count all
select count(*) as n

-- several reductions
select count(Elapsed) as n, sum(Elapsed) as total, avg(Elapsed) as mean, min(Elapsed) as least, max(Elapsed) as most, count(distinct Properties.Application) as applications

-- percentile by level and 12 h
select "@l" as level, time_bucket('12h', "@t") as half_day, approx_percentile_cont(Elapsed, 0.9) as p90 group by "@l", time_bucket('12h', "@t") order by half_day, level

-- property exists
select Message where Properties.UserAgent is not null

-- prefix like
select Message where Message like 'GET /api/orders/%'

-- substring
select Message where Message like '%nightly-export%'

-- group by level
select "@l" as level, count(*) as n, avg(Elapsed) as mean group by "@l" order by level

-- group by time bucket
select time_bucket('5m', "@t") as five_minutes, count(*) as n group by time_bucket('5m', "@t") order by five_minutes

-- distinct of a substring
select distinct substr(Message, 1, 12) as start order by start

-- sorted limit by number
select Message, Elapsed order by Elapsed desc nulls last, Message limit 10

-- sorted limit by text
select Message, "@t" order by Message, "@t" limit 10

-- a ten-term predicate
select Message where Elapsed > 20 and Elapsed <= 5000 and Message like '%/api/%' and Properties.StatusCode >= 200 and Properties.StatusCode <> 404 and ("@l" is null or "@l" <> 'Debug') and Properties.Application in ('Shop', 'Billing') and Properties.UserAgent is null and not match(Message, '^DELETE')
