"""Routes of schedules, crawl runs and proposals."""

from aide.core.api.routes import Router
from crawling.api.plans import CrawlPlanViewSet
from crawling.api.proposals import ProposalViewSet
from crawling.api.runs import CrawlRunViewSet

router = Router()
router.register("crawl-plans", CrawlPlanViewSet)
router.register("crawl-runs", CrawlRunViewSet)
router.register("proposals", ProposalViewSet)

urlpatterns = router.urls
