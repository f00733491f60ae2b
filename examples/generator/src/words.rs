//! What the events talk about. All text is JSON string text: it is written as it stands here, escapes included.

pub(crate) const METHODS: [&str; 8] = ["GET", "GET", "GET", "GET", "GET", "POST", "PUT", "DELETE"];

pub(crate) const STATUS: [&str; 16] =
    ["200", "200", "200", "200", "200", "200", "200", "200", "200", "201", "204", "302", "304", "400", "404", "500"];

/// Paths of requests that are not about customers; some nearly are.
pub(crate) const PATHS: [&str; 12] = [
    "/api/orders/",
    "/api/orders/",
    "/api/orders/",
    "/api/products/",
    "/api/products/",
    "/api/customer-groups/",
    "/API/Customers/",
    "/api/v2/customers/",
    "/api/suchen/größe/",
    "/assets/img/",
    "/api/invoices/",
    "/health/",
];

pub(crate) const APPLICATIONS: [&str; 5] = ["Shop", "Shop", "Shop.Admin", "Billing", "Склад"];

pub(crate) const CONTEXTS: [&str; 4] =
    ["Shop.Orders.OrderService", "Shop.Carts.CartService", "Shop.Billing.Invoices", "Shop.Stock.Reservations"];

/// Names of people, some spelled with escapes.
pub(crate) const PEOPLE: [&str; 14] = [
    "Anna Lindqvist",
    "Sean O'Neill",
    "Дмитрий Соколов",
    "Ольга Петрова",
    "王小明",
    "佐藤花子",
    "김민준",
    "José Núñez",
    "Zo\\u00eb M\\u00fcller",
    "Robert \\\"Bob\\\" Tables",
    "Łukasz Żółć",
    "محمد علي",
    "Renée 🌸",
    "Grin \\ud83d\\ude00",
];

pub(crate) const CITIES: [&str; 8] = ["Berlin", "Москва", "東京", "São Paulo", "Kraków", "Zürich", "New York", "上海"];

pub(crate) const SQL: [&str; 4] = [
    "SELECT o.\\\"Id\\\", o.\\\"Total\\\"\\r\\nFROM \\\"Orders\\\" AS o\\r\\nWHERE o.\\\"Id\\\" = @p0",
    "UPDATE \\\"Stock\\\" SET \\\"Count\\\" = @p0\\r\\nWHERE \\\"Id\\\" = @p1",
    "SELECT COUNT(*)::INT\\r\\nFROM \\\"Customers\\\" AS c",
    "INSERT INTO \\\"AuditLog\\\" (\\\"At\\\", \\\"Who\\\")\\r\\nVALUES (@p0, @p1)",
];

pub(crate) const JOBS: [&str; 5] =
    ["nightly-export", "C:\\\\jobs\\\\import.ps1", "stock-sync", "рассылка", "rebuild\\/search-index"];

pub(crate) const AGENTS: [&str; 3] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:123.0) Gecko/20100101 Firefox/123.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_3 like Mac OS X)",
    "okhttp/4.12.0",
];

pub(crate) const EXCEPTIONS: [&str; 4] = [
    "System.InvalidOperationException: Sequence contains no elements",
    "System.TimeoutException: The operation has timed out after \\\"00:00:30\\\"",
    "Npgsql.PostgresException (0x80004005): 40001: could not serialize access",
    "System.NullReferenceException: Object reference not set to an instance of an object",
];

pub(crate) const FRAMES: [&str; 8] = [
    "Shop.Customers.CustomerRepository.FindAsync(Int64 id) in C:\\\\src\\\\Shop\\\\Customers\\\\CustomerRepository.cs:line ",
    "Shop.Orders.OrderService.PlaceAsync(Cart cart, CancellationToken token) in /src/Shop/Orders/OrderService.cs:line ",
    "Shop.Api.CustomersController.Get(Int64 id) in /src/Shop/Api/CustomersController.cs:line ",
    "System.Linq.ThrowHelper.ThrowNoElementsException():line ",
    "Microsoft.AspNetCore.Mvc.Infrastructure.ControllerActionInvoker.<InvokeAsync>g__Awaited|13_0():line ",
    "Microsoft.AspNetCore.Routing.EndpointMiddleware.<Invoke>g__AwaitRequestTask|6_0(Endpoint endpoint):line ",
    "Npgsql.Internal.NpgsqlConnector.<ReadMessage>g__ReadMessageLong|234_0(Boolean async):line ",
    "Serilog.AspNetCore.RequestLoggingMiddleware.Invoke(HttpContext httpContext):line ",
];
