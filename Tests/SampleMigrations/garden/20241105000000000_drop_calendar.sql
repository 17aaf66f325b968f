-- Nobody ever looked at it.
DROP TABLE calendar;
