module oasis

go 1.21
